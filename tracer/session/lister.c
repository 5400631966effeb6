// SPDX-License-Identifier: MIT
// What a call calls is read off the bytecode: what is to be called is loaded
// before its arguments, marked as such, and each call takes the newest one
// that has not been called yet.
#include "tracer/session/lister.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAITING_MOST 64 // calls within calls
#define CALLEE_MOST 120 // bytes
#define PARTS_MOST 16   // a.b.c.d

struct Lister {
    struct ListerSource source;
    struct Listing *listing;
    struct ListingRow *rows;
    size_t count;
    // Rows at which what is to be called has been loaded: the last of its
    // name's parts.
    size_t waiting[WAITING_MOST];
    unsigned waiting_count;
};

// --- Arguments -------------------------------------------------------------

static const struct Operand *operand_of(const struct Lister *lister, size_t row)
{
    return &lister->source.opcodes
                ->operand[lister->source.detail->rows[row].opcode];
}

static bool is_named(const struct Lister *lister, size_t row, const char *name)
{
    return Opcodes_is(lister->source.opcodes,
                      lister->source.detail->rows[row].opcode, name);
}

static const char *pair_words(struct Lister *lister, uint32_t argument)
{
    const char *one =
        Words_get(lister->source.words, WORDS_LOCALS, argument >> 4);
    const char *two =
        Words_get(lister->source.words, WORDS_LOCALS, argument & 15);
    char both[256];

    if (!one || !two)
        return NULL;
    snprintf(both, sizeof both, "%.120s, %.120s", one, two);
    return Arena_text(&lister->listing->arena, both);
}

static const char *words_of(struct Lister *lister, size_t row)
{
    const struct Opcodes *opcodes = lister->source.opcodes;
    const struct Words *words = lister->source.words;
    const struct Operand *operand = operand_of(lister, row);
    uint32_t argument = lister->source.detail->rows[row].argument;
    uint32_t index = argument >> operand->shift;

    if (operand->kind == OPERAND_TEXT && index < operand->text_count)
        return opcodes->texts[operand->text + index];
    if (!words)
        return NULL;
    switch (operand->kind) {
    case OPERAND_CONST:
        return Words_get(words, WORDS_CONSTS, index);
    case OPERAND_NAME:
        return Words_get(words, WORDS_NAMES, index);
    case OPERAND_LOCAL:
        return Words_get(words, WORDS_LOCALS, index);
    case OPERAND_LOCALS:
        return pair_words(lister, argument);
    default:
        return NULL;
    }
}

// The offset of the row that a jump may go to: an instruction begins with its
// EXTENDED_ARGs, its row is behind them.
static uint64_t target_of(const struct Lister *lister, size_t row)
{
    const struct Opcodes *opcodes = lister->source.opcodes;
    const struct DetailRow *rows = lister->source.detail->rows,
                           *at = rows + row;
    size_t from = 0, to = lister->source.detail->row_count;
    int64_t distance = at->argument, unit;

    if (!Opcodes_jumps(opcodes, at->opcode))
        return NULL_U64;
    unit = at->offset / 2 + (int64_t)Opcodes_length(opcodes, at->opcode);
    unit += Opcodes_jumps_back(opcodes, at->opcode) ? -distance : distance;
    if (unit < 0 || unit >= lister->source.code->layout.unit_count)
        return NULL_U64;
    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (rows[middle].offset < 2 * unit)
            from = middle + 1;
        else
            to = middle;
    }
    return from < lister->source.detail->row_count ? rows[from].offset
                                                   : NULL_U64;
}

// --- What is called --------------------------------------------------------

// Loads something by its name, on which LOAD_ATTRs may follow.
static bool is_load(const struct Lister *lister, size_t row)
{
    const char *name = lister->rows[row].opcode;
    unsigned kind = operand_of(lister, row)->kind;

    return !strncmp(name, "LOAD_", 5) &&
           (kind == OPERAND_NAME || kind == OPERAND_LOCAL ||
            kind == OPERAND_LOCALS);
}

static bool is_attribute(const struct Lister *lister, size_t row)
{
    return is_named(lister, row, "LOAD_ATTR");
}

// Of two variables the one that was loaded last.
static const char *last_word(const char *words)
{
    const char *blank = strrchr(words, ' ');

    return blank ? blank + 1 : words;
}

// "json.loads", of which the last part is loaded at `row`.
static const char *name_at(struct Lister *lister, size_t row)
{
    const char *parts[PARTS_MOST];
    unsigned count = 0;
    char name[CALLEE_MOST] = "";
    size_t used = 0;

    while (count < PARTS_MOST && is_load(lister, row) &&
           lister->rows[row].words) {
        parts[count++] = last_word(lister->rows[row].words);
        if (!is_attribute(lister, row))
            break;
        // Of what it is an attribute has no name: a call's result, say.
        if (!row || !is_load(lister, row - 1)) {
            if (count < PARTS_MOST)
                parts[count++] = "";
            break;
        }
        row--;
    }
    while (count-- && used < sizeof name)
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%s",
                                 parts[count], count ? "." : "");
    return *name ? Arena_text(&lister->listing->arena, name) : NULL;
}

static void await_call(struct Lister *lister, size_t row)
{
    // Deeper than anybody writes: the outermost are forgotten.
    if (lister->waiting_count == WAITING_MOST)
        memmove(lister->waiting, lister->waiting + 1,
                --lister->waiting_count * sizeof *lister->waiting);
    lister->waiting[lister->waiting_count++] = row;
}

// The last row of the name that begins at `row`.
static size_t name_from(const struct Lister *lister, size_t row)
{
    if (row < lister->count && is_load(lister, row))
        while (row + 1 < lister->count && is_attribute(lister, row + 1))
            row++;
    return row;
}

// A call of what has just been made: it takes nothing that waits.
static bool calls_made(const struct Lister *lister, size_t row)
{
    return row && lister->rows[row].argument == 0 &&
           (is_named(lister, row - 1, "GET_ITER") ||
            is_named(lister, row - 1, "GET_AITER") ||
            is_named(lister, row - 1, "MAKE_FUNCTION") ||
            is_named(lister, row - 1, "SET_FUNCTION_ATTRIBUTE"));
}

static void name_calls(struct Lister *lister)
{
    const struct Opcodes *opcodes = lister->source.opcodes;
    size_t row;

    for (row = 0; row < lister->count; row++) {
        uint8_t opcode = lister->source.detail->rows[row].opcode;

        if (opcodes->flags[opcode] & OPCODE_CALL) {
            if (!lister->waiting_count || calls_made(lister, row))
                continue;
            lister->rows[row].callee =
                name_at(lister, lister->waiting[--lister->waiting_count]);
        } else if (operand_of(lister, row)->callable &&
                   lister->rows[row].argument & 1) {
            // 3.12 marks the first part of a module's function.
            await_call(lister, name_from(lister, row));
        } else if (Opcodes_is(opcodes, opcode, "PUSH_NULL")) {
            if (!opcodes->null_first)
                await_call(lister, row ? row - 1 : 0);
            else if (row + 1 < lister->count)
                await_call(lister, name_from(lister, row + 1));
        }
    }
}

// --- Rows ------------------------------------------------------------------

static const char *live_of(const struct Lister *lister,
                           const struct DetailRow *detail)
{
    if (detail->jitted)
        return OPCODE_EXECUTOR_TEXT;
    return detail->live != detail->opcode
               ? Opcodes_text(lister->source.opcodes, detail->live)
               : NULL;
}

static void set_row(struct Lister *lister, size_t index)
{
    const struct ListerSource *source = &lister->source;
    const struct DetailRow *detail = &source->detail->rows[index];
    struct ListingRow *row = &lister->rows[index];

    row->offset = detail->offset;
    row->line = detail->line ? detail->line : NULL_U64;
    row->opcode = Opcodes_text(source->opcodes, detail->opcode);
    row->live = live_of(lister, detail);
    row->argument = operand_of(lister, index)->kind == OPERAND_NONE
                        ? NULL_U64
                        : detail->argument;
    row->words = words_of(lister, index);
    row->target = target_of(lister, index);
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
}

struct Listing *Lister_make(const struct ListerSource *source)
{
    struct Lister lister = {.source = *source, .listing = Listing_new()};
    struct Listing *listing = lister.listing;
    size_t count = source->detail->row_count, i;

    if (!listing)
        return NULL;
    count = count < LISTING_ROWS ? count : LISTING_ROWS;
    lister.count = count;
    lister.rows = Arena_alloc(&listing->arena, count * sizeof *lister.rows);
    listing->id = source->code->hot.id;
    listing->name = Arena_text(&listing->arena, source->code->who.name);
    listing->file = Arena_text(&listing->arena, source->code->who.file);
    listing->line = source->code->who.line;
    listing->precise = source->detail->precise;
    listing->instructions = source->detail->row_count;
    listing->words = source->words != NULL;
    if (!lister.rows) {
        Listing_free(listing);
        return NULL;
    }
    for (i = 0; i < count; i++)
        set_row(&lister, i);
    name_calls(&lister);
    listing->rows = lister.rows;
    listing->row_count = count;
    return listing;
}
