// SPDX-License-Identifier: MIT
// Makes a listing, and finds out which function each call instruction calls.
// For a call, the bytecode first loads a callable (which this code marks), and
// then loads the arguments. Each call instruction calls the newest marked
// callable that was not called yet.
#include "tracer/session/listing_builder.h"

#include "ipc/base/array.h"
#include "ipc/base/now.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WAITING_MOST 64 // Largest depth of nested calls in bytecode.
#define CALLEE_MOST 120 // Largest number of bytes of a callee's name.
#define PARTS_MOST 16   // Largest number of parts of a name such as a.b.c.d.

struct ListingBuilder {
    struct ListingBuilderSource source;
    struct Listing *listing;
    struct ListingRow *rows;
    size_t count;
    // Rows of instructions that have loaded a callable that was not called yet.
    // If the callable's name has several parts, this is the row of the last
    // part.
    size_t waiting[WAITING_MOST];
    unsigned waiting_count;
};

// --- Arguments -------------------------------------------------------------

static const struct Operand *operand_of(const struct ListingBuilder *builder,
                                        size_t row)
{
    return &builder->source.opcodes
                ->operand[builder->source.detail->rows[row].opcode];
}

static bool is_named(const struct ListingBuilder *builder, size_t row,
                     const char *name)
{
    return Opcodes_is(builder->source.opcodes,
                      builder->source.detail->rows[row].opcode, name);
}

static const char *pair_text(struct ListingBuilder *builder, uint32_t argument)
{
    const char *one =
        OperandText_get(builder->source.text, TEXT_LOCALS, argument >> 4);
    const char *two =
        OperandText_get(builder->source.text, TEXT_LOCALS, argument & 15);
    char both[256];

    if (!one || !two)
        return NULL;
    snprintf(both, sizeof both, "%.120s, %.120s", one, two);
    return Arena_text(&builder->listing->arena, both);
}

static const char *text_of(struct ListingBuilder *builder, size_t row)
{
    const struct Opcodes *opcodes = builder->source.opcodes;
    const struct OperandText *text = builder->source.text;
    const struct Operand *operand = operand_of(builder, row);
    uint32_t argument = builder->source.detail->rows[row].argument;
    uint32_t index = argument >> operand->shift;

    if (operand->kind == OPERAND_TEXT && index < operand->text_count)
        return opcodes->texts[operand->text + index];
    if (!text)
        return NULL;
    switch (operand->kind) {
    case OPERAND_CONST:
        return OperandText_get(text, TEXT_CONSTS, index);
    case OPERAND_NAME:
        return OperandText_get(text, TEXT_NAMES, index);
    case OPERAND_LOCAL:
        return OperandText_get(text, TEXT_LOCALS, index);
    case OPERAND_LOCALS:
        return pair_text(builder, argument);
    default:
        return NULL;
    }
}

// Returns the offset of the row to which an instruction may jump, or null if
// the instruction does not jump. A jump goes to the first EXTENDED_ARG of an
// instruction, but the instruction's row has the offset of its opcode.
static uint64_t target_of(const struct ListingBuilder *builder, size_t row)
{
    const struct Opcodes *opcodes = builder->source.opcodes;
    const struct ListingDetailRow *rows = builder->source.detail->rows,
                                  *at = rows + row;
    size_t count = builder->source.detail->row_count, found;
    int64_t distance = at->argument, unit;

    if (!Opcodes_jumps(opcodes, at->opcode))
        return NULL_U64;
    unit = at->offset / 2 + (int64_t)Opcodes_length(opcodes, at->opcode);
    unit += Opcodes_jumps_back(opcodes, at->opcode) ? -distance : distance;
    if (unit < 0 || unit >= builder->source.code->layout.unit_count)
        return NULL_U64;
    found = ARRAY_BOUND(count, rows[middle].offset < 2 * unit);
    return found < count ? rows[found].offset : NULL_U64;
}

// --- Callees ---------------------------------------------------------------

// Returns true if the row's instruction loads an object by its name. LOAD_ATTR
// instructions may follow the load of a name.
static bool is_load(const struct ListingBuilder *builder, size_t row)
{
    const char *name = builder->rows[row].opcode;
    unsigned kind = operand_of(builder, row)->kind;

    return !strncmp(name, "LOAD_", 5) &&
           (kind == OPERAND_NAME || kind == OPERAND_LOCAL ||
            kind == OPERAND_LOCALS);
}

static bool is_attribute(const struct ListingBuilder *builder, size_t row)
{
    return is_named(builder, row, "LOAD_ATTR");
}

// Returns the last word of an instruction's text. For an instruction that loads
// two variables, this word is the second variable.
static const char *last_word(const char *text)
{
    const char *blank = strrchr(text, ' ');

    return blank ? blank + 1 : text;
}

// Returns a name like "json.loads". The instruction at `row` loads the last
// part of the name.
static const char *name_at(struct ListingBuilder *builder, size_t row)
{
    const char *parts[PARTS_MOST];
    unsigned count = 0;
    char name[CALLEE_MOST] = "";
    size_t used = 0;

    while (count < PARTS_MOST && is_load(builder, row) &&
           builder->rows[row].words) {
        parts[count++] = last_word(builder->rows[row].words);
        if (!is_attribute(builder, row))
            break;
        // The object before the attribute has no name, for example because a
        // call has returned it.
        if (!row || !is_load(builder, row - 1)) {
            if (count < PARTS_MOST)
                parts[count++] = "";
            break;
        }
        row--;
    }
    while (count-- && used < sizeof name)
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%s",
                                 parts[count], count ? "." : "");
    return *name ? Arena_text(&builder->listing->arena, name) : NULL;
}

static void await_call(struct ListingBuilder *builder, size_t row)
{
    // If calls are nested too deeply, the outermost callable is forgotten.
    if (builder->waiting_count == WAITING_MOST)
        memmove(builder->waiting, builder->waiting + 1,
                --builder->waiting_count * sizeof *builder->waiting);
    builder->waiting[builder->waiting_count++] = row;
}

// Returns the last row of the name that begins at `row`.
static size_t name_from(const struct ListingBuilder *builder, size_t row)
{
    if (row < builder->count && is_load(builder, row))
        while (row + 1 < builder->count && is_attribute(builder, row + 1))
            row++;
    return row;
}

// Returns true if the instruction calls an object that the instruction before
// it has made. An object that the instruction before has made is not marked as
// a callable.
static bool calls_made(const struct ListingBuilder *builder, size_t row)
{
    return row && builder->rows[row].argument == 0 &&
           (is_named(builder, row - 1, "GET_ITER") ||
            is_named(builder, row - 1, "GET_AITER") ||
            is_named(builder, row - 1, "MAKE_FUNCTION") ||
            is_named(builder, row - 1, "SET_FUNCTION_ATTRIBUTE"));
}

static void name_calls(struct ListingBuilder *builder)
{
    const struct Opcodes *opcodes = builder->source.opcodes;
    size_t row;

    for (row = 0; row < builder->count; row++) {
        uint8_t opcode = builder->source.detail->rows[row].opcode;

        if (opcodes->flags[opcode] & OPCODE_CALL) {
            if (!builder->waiting_count || calls_made(builder, row))
                continue;
            builder->rows[row].callee =
                name_at(builder, builder->waiting[--builder->waiting_count]);
        } else if (operand_of(builder, row)->callable &&
                   builder->rows[row].argument & 1) {
            // CPython 3.12 marks the first part of a name such as
            // module.function.
            await_call(builder, name_from(builder, row));
        } else if (Opcodes_is(opcodes, opcode, "PUSH_NULL")) {
            if (!opcodes->null_first)
                await_call(builder, row ? row - 1 : 0);
            else if (row + 1 < builder->count)
                await_call(builder, name_from(builder, row + 1));
        }
    }
}

// --- Rows ------------------------------------------------------------------

static const char *live_of(const struct ListingBuilder *builder,
                           const struct ListingDetailRow *detail)
{
    if (detail->jitted)
        return OPCODE_EXECUTOR_TEXT;
    return detail->live != detail->opcode
               ? Opcodes_text(builder->source.opcodes, detail->live)
               : NULL;
}

static void set_row(struct ListingBuilder *builder, size_t index)
{
    const struct ListingBuilderSource *source = &builder->source;
    const struct ListingDetailRow *detail = &source->detail->rows[index];
    struct ListingRow *row = &builder->rows[index];
    struct LineHits *lines = Code_lines(source->code);
    const struct LineHit *line = LineHits_at(lines, detail->line);

    row->offset = detail->offset;
    row->line = detail->line ? detail->line : NULL_U64;
    row->opcode = Opcodes_text(source->opcodes, detail->opcode);
    row->live = live_of(builder, detail);
    row->argument = operand_of(builder, index)->kind == OPERAND_NONE
                        ? NULL_U64
                        : detail->argument;
    row->words = text_of(builder, index);
    row->target = target_of(builder, index);
    row->callee = NULL;
    row->hits = detail->hits || detail->exact ? detail->hits : NULL_U64;
    row->hits_exact = detail->exact;
    row->cycles = detail->cycles;
    row->armed = detail->site ? !detail->dark : NULL_U64;
    row->specializable =
        (source->opcodes->flags[detail->opcode] & OPCODE_SPECIALIZABLE) != 0;
    row->was_specialized = detail->specialized_once;
    row->samples = source->sampled ? detail->samples : NULL_U64;
    row->c_samples = source->sampled ? detail->c_samples : NULL_U64;
    row->taken = detail->branch ? detail->taken : NULL_U64;
    row->line_hits = row->line_hits_exact = NULL_U64;
    row->line_hits_per_s = NAN;
    // CPython reports no event at the line of a `def`.
    if (line &&
        (Counter_get(&line->hits) || detail->line != source->code->who.line)) {
        row->line_hits = Counter_get(&line->hits);
        row->line_hits_exact =
            !atomic_load_explicit(&line->floor, memory_order_relaxed);
        row->line_hits_per_s =
            LineHits_rate(lines, line, source->share, source->hz);
    }
}

// Sets the line at which a call waits in a thread.
static void set_wait(struct ListingBuilder *builder)
{
    const struct Share *share = &builder->source.code->share;
    const struct ShareStill *still = &Share_parts(share)->still;
    uint64_t age_ns, offset = 2 * Counter_get(&still->unit);

    if (!ShareStill_get(still, Now_ns(CLOCK_MONOTONIC), &age_ns))
        return;
    for (size_t i = 0; i < builder->count; i++)
        if (builder->rows[i].offset == offset)
            builder->listing->waits_line = builder->rows[i].line;
    builder->listing->waits_s = (double)age_ns / 1e9;
}

struct Listing *ListingBuilder_make(const struct ListingBuilderSource *source)
{
    struct ListingBuilder builder = {.source = *source,
                                     .listing = Listing_new()};
    struct Listing *listing = builder.listing;
    size_t count = source->detail->row_count, i;

    if (!listing)
        return NULL;
    if (Code_lines(source->code))
        LineHits_read(Code_lines(source->code), source->ticks, source->hz);
    count = count < LISTING_ROWS ? count : LISTING_ROWS;
    builder.count = count;
    builder.rows = Arena_alloc(&listing->arena, count * sizeof *builder.rows);
    listing->id = source->code->hot.id;
    listing->name = Arena_text(&listing->arena, source->code->who.name);
    listing->file = Arena_text(&listing->arena, source->code->who.file);
    listing->line = source->code->who.line;
    listing->precise = source->detail->precise;
    listing->instructions = source->detail->row_count;
    listing->words = source->text != NULL;
    if (!builder.rows) {
        Listing_free(listing);
        return NULL;
    }
    for (i = 0; i < count; i++)
        set_row(&builder, i);
    name_calls(&builder);
    set_wait(&builder);
    listing->rows = builder.rows;
    listing->row_count = count;
    return listing;
}
