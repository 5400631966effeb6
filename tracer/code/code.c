// SPDX-License-Identifier: MIT
// Makes and frees the struct Code of an accepted code object. Finds the code's
// sites in its bytecode. A site is a place in bytecode at which CPython reports
// an event. The caller holds the GIL, except in Code_free, which the
// collector's thread calls, and in the functions for readers.
#include "tracer/code/code.h"
#include "ipc/base/heap.h"
#include "ipc/own_file.h"
#include "tracer/base/harmless.h"

#include <string.h>

// Mask of the bits in RESUME's argument that are 0 only at the start of a
// function.
#define RESUME_LOCATION 3

// Returns the kind of site that an opcode has, or -1 if the opcode has no
// event.
static int site_kind(const struct Opcodes *opcodes, uint8_t opcode,
                     uint8_t oparg)
{
    unsigned flags = opcodes->flags[opcode];

    if (flags & OPCODE_RESUME)
        return oparg & RESUME_LOCATION ? SITE_RESUME : SITE_START;
    if (flags & OPCODE_RETURN)
        return SITE_RETURN;
    if (flags & OPCODE_YIELD)
        return SITE_YIELD;
    if (flags & OPCODE_JUMP)
        return SITE_JUMP;
    if (flags & OPCODE_BRANCH)
        return SITE_BRANCH;
    return -1;
}

struct Walk { // A walk over a code object's instructions.
    struct Code *code;
    size_t unit;
    size_t number; // Number of the current instruction.
    // Number of the first instruction after the last backward jump.
    size_t after_loop;
    // True if the current offset is larger than CPython's small integers.
    bool far;
};

static enum HookKind hook_kind(const struct Code *code, int site_kind)
{
    switch (site_kind) {
    case SITE_START:
    case SITE_RESUME:
        return code->hot.enter_hook;
    case SITE_RETURN:
    case SITE_YIELD:
        return Code_leave_hook(code);
    default:
        return HOOK_JUMP;
    }
}

static void add_site(const struct Walk *walk, int kind, bool redundant,
                     uint64_t threshold)
{
    struct Site *site =
        &walk->code->layout.sites[walk->code->layout.site_count++];

    // A redundant site loses its hook at the first hit, because its count
    // follows from the counts of other sites.
    site->stop_at = redundant ? 1 : threshold ? threshold : CODE_NEVER;
    site->unit = (uint16_t)walk->unit;
    site->reach = (uint16_t)(walk->number - walk->after_loop + 1);
    site->kind = (uint8_t)kind;
    site->hook =
        (uint8_t)(hook_kind(walk->code, kind) + (walk->far ? HOOK_FAR : 0));
    site->redundant = redundant;
}

// Goes through the instructions once and returns the number of sites. As long
// as layout.sites is NULL, lay_out only counts the sites.
static size_t lay_out(struct Code *code, const struct CodeSource *source,
                      const struct Opcodes *opcodes, uint64_t threshold,
                      bool two_arms)
{
    struct Walk walk = {.code = code};
    size_t count = 0;

    while (walk.unit < code->layout.unit_count && walk.unit <= UINT16_MAX) {
        uint8_t opcode = code->who.bytecode[2 * walk.unit];
        unsigned flags = opcodes->flags[opcode];
        int kind =
            site_kind(opcodes, opcode, code->who.bytecode[2 * walk.unit + 1]);
        size_t end = walk.unit + Opcodes_length(opcodes, opcode);
        size_t arms = kind == SITE_BRANCH && two_arms ? 2 : 1;

        if (kind >= SITE_JUMP) {
            code->layout.jumps |= !(flags & OPCODE_ITER);
            kind = source->straight ? -1 : kind;
        }
        if (kind >= 0 && count + arms <= UINT16_MAX) {
            count += arms;
            walk.far = Opcodes_is_far(opcodes, walk.unit);
            if (code->layout.sites) {
                code->layout.units[walk.unit].site =
                    (uint16_t)(code->layout.site_count + 1);
                add_site(&walk, kind, flags & OPCODE_ITER, threshold);
                if (arms == 2)
                    add_site(&walk, SITE_BRANCH_RIGHT, flags & OPCODE_ITER,
                             threshold);
            }
        }
        for (; walk.unit < end && walk.unit < code->layout.unit_count;
             walk.unit++)
            code->layout.units[walk.unit].number = (uint16_t)walk.number;
        if (!(flags & OPCODE_EXTENDED))
            walk.number++;
        if (flags & OPCODE_LOOP)
            walk.after_loop = walk.number;
    }
    return count;
}

// Copies the bytecode and the line table into one block.
static bool copy_bytes(struct CodeIdentity *who,
                       const struct CodeSource *source)
{
    uint8_t *bytes =
        Heap_alloc(source->bytecode_size + source->line_table_size + 1);

    if (!bytes)
        return false;
    who->bytecode = bytes;
    who->line_table = bytes + source->bytecode_size;
    who->line_table_size = source->line_table_size;
    memcpy(who->bytecode, source->bytecode, source->bytecode_size);
    memcpy(who->line_table, source->line_table, source->line_table_size);
    return true;
}

static char *text_of(const char *text)
{
    char *cut;

    if (strnlen(text, CODE_TEXT_SIZE) < CODE_TEXT_SIZE)
        return Heap_text(text);
    cut = Heap_alloc(CODE_TEXT_SIZE);
    if (cut)
        Harmless_clean(cut, CODE_TEXT_SIZE, text, false);
    return cut;
}

struct Code *Code_new(uint32_t id, const struct CodeSource *source,
                      const struct Opcodes *opcodes, uint64_t threshold,
                      bool two_arms)
{
    struct Code *code = Heap_zeroed(1, sizeof *code);
    size_t count;

    if (!code)
        return NULL;
    code->hot.id = id;
    code->hot.stop_at = threshold ? threshold : CODE_NEVER;
    code->hot.calls_exact = code->hot.exact = true;
    code->hot.epoch = code->hot.block_epoch = 1;
    code->hot.min_cycles = UINT64_MAX;
    code->cold.jumps = true;
    code->layout.straight = source->straight;
    code->who.ends = (uint8_t)source->ends;
    code->who.coroutine = source->coroutine;
    code->poll.specializable = UINT32_MAX;
    code->hot.enter_hook = source->suspends ? HOOK_RESUME : HOOK_ENTER;
    code->who.address = source->address;
    code->who.line = source->line;
    code->who.own = OwnFile_is(source->file);
    code->who.version = source->version;
    code->layout.unit_count = (uint32_t)(source->bytecode_size / 2);
    code->who.name = text_of(source->name);
    code->who.file = text_of(source->file);
    code->layout.units =
        Heap_zeroed(code->layout.unit_count + 1u, sizeof *code->layout.units);
    if (!copy_bytes(&code->who, source) || !code->who.name || !code->who.file ||
        !code->layout.units)
        goto fail;
    code->who.lines =
        source->lines_most && Code_line_range(code).count <= source->lines_most;
    count = lay_out(code, source, opcodes, threshold, two_arms);
    code->layout.sites =
        Heap_zeroed(count ? count : 1, sizeof *code->layout.sites);
    if (!code->layout.sites)
        goto fail;
    lay_out(code, source, opcodes, threshold, two_arms);
    return code;
fail:
    Code_free(code);
    return NULL;
}

static void free_c_calls(struct CCalls *calls)
{
    struct CPair *pair, *next;

    for (int i = 0; calls && i < C_CALLS_BUCKETS; i++)
        for (pair = calls->pairs[i]; pair; pair = next) {
            next = pair->next;
            Heap_free(pair);
        }
    Heap_free(calls);
}

void Code_free(struct Code *code)
{
    if (!code)
        return;
    Heap_free(code->hot.histogram);
    if (code->cold.latency) {
        Heap_free(Code_latency(code)->open);
        Heap_free(Latency_totals(Code_latency(code)));
    }
    Heap_free(code->cold.latency);
    Heap_free(code->layout.units);
    Heap_free(code->layout.sites);
    Heap_free(code->layout.instructions);
    Heap_free(Code_lines(code));
    Heap_free((void *)code->layout.taken);
    Heap_free(code->who.name);
    Heap_free(code->who.file);
    Heap_free(code->who.bytecode);
    Specialisation_release(&code->poll.history);
    Heap_free(code->links.callers);
    Share_release(&code->share);
    Heap_free(code->links.callees);
    free_c_calls(code->links.c_calls);
    Heap_free(code);
}

struct LineRange Code_line_range(const struct Code *code)
{
    return LineRange_of(code->who.line_table, code->who.line_table_size,
                        code->who.line);
}

void Code_take(struct Code *code, const struct Site *site)
{
    counter_t *taken =
        atomic_load_explicit(&code->layout.taken, memory_order_relaxed);
    size_t count = code->layout.site_count;

    if (!taken) {
        taken = Heap_zeroed(count, sizeof *taken);
        if (!taken)
            return;
        // The release pairs with the acquire in Code_taken.
        atomic_store_explicit(&code->layout.taken, taken, memory_order_release);
    }
    Counter_add(&taken[site - code->layout.sites], 1);
}

uint64_t Code_taken(const struct Code *code, const struct Site *site)
{
    const counter_t *taken =
        atomic_load_explicit(&code->layout.taken, memory_order_acquire);

    if (Code_has_two_arms(code, site))
        return Counter_get(&site[1].hits);
    return taken ? Counter_get(&taken[site - code->layout.sites]) : 0;
}

void Code_count_sites(const struct Code *code, uint64_t *sites, uint64_t *dark)
{
    uint32_t i;

    *sites = *dark = 0;
    if (Code_is_stand_in(code))
        return;
    for (i = 0; i < code->layout.site_count; i++) {
        const struct Site *site = &code->layout.sites[i];

        if (site->redundant || (site->kind >= SITE_JUMP && !code->cold.jumps))
            continue;
        ++*sites;
        *dark += atomic_load_explicit(&site->dark, memory_order_relaxed);
    }
    for (i = 0; i < code->layout.instruction_count; i++) {
        const struct Instruction *at = &code->layout.instructions[i];

        if (!(at->flags & INSTRUCTION_FIRES))
            continue;
        ++*sites;
        *dark += atomic_load_explicit(&at->dark, memory_order_relaxed);
    }
}

uint64_t Code_events(const struct Code *code)
{
    const struct LineHits *lines = Code_lines(code);
    uint64_t events = Counter_get(&code->hot.entries);
    uint32_t i;

    if (Code_is_stand_in(code))
        return 0;
    for (i = 0; i < code->layout.site_count; i++)
        events += Counter_get(&code->layout.sites[i].hits);
    for (i = 0; i < code->layout.instruction_count; i++)
        events += Counter_get(&code->layout.instructions[i].hits);
    for (i = 0; lines && i < lines->count; i++)
        events += Counter_get(&lines->lines[i].hits);
    return events;
}
