// SPDX-License-Identifier: MIT
// One accepted code object: lays out its sites from its bytecode, frees it and
// counts. Called with the interpreter's lock held, but for Code_free (the
// collector) and the readers' functions.
#include "tracer/code/code.h"
#include "ipc/base/heap.h"

#include <string.h>

#define RESUME_LOCATION 3 // the bits of RESUME's argument that say where

// The site kind of an opcode, or -1 where nothing fires.
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

struct Walk { // over a code object's instructions
    struct Code *code;
    size_t unit;
    size_t number;     // of the instruction
    size_t after_loop; // number of the first one after the last jump back
    bool far;          // its offset is beyond CPython's small integers
};

static enum HookKind hook_kind(const struct Code *code, int site_kind)
{
    switch (site_kind) {
    case SITE_START:
    case SITE_RESUME:
        return code->enter_hook;
    case SITE_RETURN:
        return Code_leave_hook(code);
    case SITE_YIELD:
        return HOOK_YIELD;
    case SITE_JUMP:
        return HOOK_JUMP;
    default:
        return HOOK_BRANCH;
    }
}

static void add_site(const struct Walk *walk, int kind, bool redundant,
                     uint64_t threshold)
{
    struct Site *site = &walk->code->sites[walk->code->site_count++];

    // What follows from other sites goes dark at its first hit.
    site->stop_at = redundant ? 1 : threshold ? threshold : CODE_NEVER;
    site->unit = (uint16_t)walk->unit;
    site->reach = (uint16_t)(walk->number - walk->after_loop + 1);
    site->kind = (uint8_t)kind;
    site->hook = (uint8_t)(hook_kind(walk->code, kind) + walk->far);
    site->redundant = redundant;
    walk->code->jump_count += kind >= SITE_JUMP && !redundant;
}

// One pass over the instructions; with code->sites still NULL it only counts.
static size_t lay_out(struct Code *code, const struct Opcodes *opcodes,
                      uint64_t threshold, bool two_arms)
{
    struct Walk walk = {.code = code};
    size_t count = 0;

    while (walk.unit < code->unit_count && walk.unit <= UINT16_MAX) {
        uint8_t opcode = code->bytecode[2 * walk.unit];
        unsigned flags = opcodes->flags[opcode];
        int kind =
            site_kind(opcodes, opcode, code->bytecode[2 * walk.unit + 1]);
        size_t end = walk.unit + Opcodes_length(opcodes, opcode);
        size_t arms = kind == SITE_BRANCH && two_arms ? 2 : 1;

        if (kind >= 0 && count + arms <= UINT16_MAX) {
            count += arms;
            walk.far = opcodes->far_unit && walk.unit >= opcodes->far_unit;
            if (code->sites) {
                code->units[walk.unit].site = (uint16_t)(code->site_count + 1);
                add_site(&walk, kind, flags & OPCODE_ITER, threshold);
                if (arms == 2)
                    add_site(&walk, SITE_BRANCH_RIGHT, flags & OPCODE_ITER,
                             threshold);
            }
        }
        for (; walk.unit < end && walk.unit < code->unit_count; walk.unit++)
            code->units[walk.unit].number = (uint16_t)walk.number;
        if (!(flags & OPCODE_EXTENDED))
            walk.number++;
        if (flags & OPCODE_LOOP)
            walk.after_loop = walk.number;
    }
    return count;
}

static void *copy(const void *data, size_t size)
{
    void *result = Heap_alloc(size ? size : 1);

    if (result && size)
        memcpy(result, data, size);
    return result;
}

struct Code *Code_new(uint32_t id, const struct CodeSource *source,
                      const struct Opcodes *opcodes, uint64_t threshold,
                      bool two_arms)
{
    struct Code *code = Heap_zeroed(1, sizeof *code);
    size_t count;

    if (!code)
        return NULL;
    code->id = id;
    code->stop_at = threshold ? threshold : CODE_NEVER;
    code->calls_exact = code->exact = true;
    code->epoch = code->block_epoch = 1;
    code->min_cycles = UINT64_MAX;
    code->specializable = UINT32_MAX;
    code->enter_hook = source->suspends ? HOOK_RESUME : HOOK_ENTER;
    code->address = source->address;
    code->line = source->line;
    code->version = source->version;
    code->unit_count = (uint32_t)(source->bytecode_size / 2);
    code->name = Heap_text(source->name);
    code->file = Heap_text(source->file);
    code->bytecode = copy(source->bytecode, source->bytecode_size);
    code->line_table = copy(source->line_table, source->line_table_size);
    code->line_table_size = source->line_table_size;
    code->units = Heap_zeroed(code->unit_count + 1u, sizeof *code->units);
    if (!code->name || !code->file || !code->bytecode || !code->line_table ||
        !code->units)
        goto fail;
    count = lay_out(code, opcodes, threshold, two_arms);
    code->sites = Heap_zeroed(count + 1, sizeof *code->sites);
    if (!code->sites)
        goto fail;
    lay_out(code, opcodes, threshold, two_arms);
    return code;
fail:
    Code_free(code);
    return NULL;
}

void Code_free(struct Code *code)
{
    if (!code)
        return;
    Heap_free(code->histogram);
    Heap_free(code->units);
    Heap_free(code->sites);
    Heap_free(code->instructions);
    Heap_free(code->name);
    Heap_free(code->file);
    Heap_free(code->bytecode);
    Heap_free(code->line_table);
    Specialisation_release(&code->story);
    Heap_free(code->callers);
    Heap_free(code->share.callers);
    Heap_free((void *)code->share.instruction_samples);
    Heap_free(code->share.callees);
    Heap_free(code->callees);
    Heap_free(code);
}

size_t Code_bytes(const struct Code *code)
{
    size_t size = sizeof *code + strlen(code->name) + strlen(code->file) + 2;

    size += code->unit_count * (sizeof *code->units + 2);
    size += code->site_count * sizeof *code->sites + code->line_table_size;
    size += code->caller_room * sizeof *code->callers;
    size += code->callee_room * sizeof *code->callees;
    size += Specialisation_bytes(&code->story);
    if (code->instructions)
        size += (code->instruction_count + 2) * sizeof *code->instructions;
    if (code->histogram)
        size += sizeof *code->histogram;
    return size;
}

void Code_count_sites(const struct Code *code, uint64_t *sites, uint64_t *dark)
{
    uint32_t i;

    *sites = *dark = 0;
    for (i = 0; i < code->site_count; i++) {
        const struct Site *site = &code->sites[i];

        if (site->redundant)
            continue;
        ++*sites;
        *dark += atomic_load_explicit(&site->dark, memory_order_relaxed);
    }
    for (i = 0; i < code->instruction_count; i++) {
        const struct Instruction *at = &code->instructions[i];

        if (!(at->flags & INSTRUCTION_FIRES))
            continue;
        ++*sites;
        *dark += atomic_load_explicit(&at->dark, memory_order_relaxed);
    }
}

uint64_t Code_events(const struct Code *code)
{
    uint64_t events = Cell_get(&code->calls);
    uint32_t i;

    for (i = 0; i < code->site_count; i++)
        events += Cell_get(&code->sites[i].hits);
    for (i = 0; i < code->instruction_count; i++)
        events += Cell_get(&code->instructions[i].hits);
    return events;
}
