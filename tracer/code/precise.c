// SPDX-License-Identifier: MIT
// Lays out the instructions of a code object for precise mode. The layout says
// which instructions have an event, and which instructions can follow each
// instruction. The layout is made in advance, so no hook has to ask for the
// target of a jump. The time between two events counts as the time of the first
// event's instruction if the second event's instruction can directly follow it.
// In addition, all instructions that can directly follow must have their hooks
// (hook/thread_trace_block.c).
#include "tracer/code/precise.h"
#include "ipc/base/heap.h"
#include "tracer/base/lines.h"

#include <errno.h>

struct Walk { // A walk over a code object's instructions.
    const struct Code *code;
    const struct Opcodes *opcodes;
    struct Instruction *all;
    uint32_t count;
    uint64_t stop_at;
    // Number of code units whose number has at most sixteen bits.
    uint32_t units;
    bool begun; // True after the first RESUME, where events begin.
};

static uint8_t opcode_at(const struct Walk *walk, uint32_t unit)
{
    return walk->code->who.bytecode[2 * unit];
}

// Computes walk->units and walk->count. Code units have no sites if their
// number needs more than sixteen bits (code.c).
static void measure(struct Walk *walk)
{
    uint32_t units = walk->code->layout.unit_count;

    walk->units = units > UINT16_MAX + 1u ? UINT16_MAX + 1u : units;
    if (!walk->units)
        return;
    walk->count = walk->code->layout.units[walk->units - 1].number + 1u;
    if (walk->count > INSTRUCTION_MOST)
        walk->count = INSTRUCTION_MOST;
}

// Returns the number of the instruction at the code unit `unit`, or
// INSTRUCTION_NONE.
static uint16_t number_at(const struct Walk *walk, int64_t unit)
{
    uint16_t number;

    if (unit < 0 || unit >= walk->units)
        return INSTRUCTION_NONE;
    number = walk->code->layout.units[unit].number;
    return number < walk->count ? number : INSTRUCTION_NONE;
}

// Returns the code unit at which the program continues after an exhausted loop.
// The program continues after the instructions that run only in specialised
// loops.
static int64_t behind_loop(const struct Walk *walk, int64_t unit)
{
    while (unit >= 0 && unit < walk->units) {
        uint8_t opcode = opcode_at(walk, (uint32_t)unit);
        bool ended = Opcodes_is(walk->opcodes, opcode, "END_FOR");

        if (!ended && !Opcodes_is(walk->opcodes, opcode, "POP_ITER"))
            break;
        unit++;
        if (ended && unit < walk->units &&
            Opcodes_is(walk->opcodes, opcode_at(walk, (uint32_t)unit),
                       "POP_TOP"))
            unit++;
    }
    return unit;
}

// Sets the instructions that can run directly after the instruction `at`.
// `behind` is the first code unit behind the instruction `at`.
static void set_next(const struct Walk *walk, struct Instruction *at,
                     int64_t behind, uint32_t argument)
{
    uint8_t opcode = opcode_at(walk, at->unit);
    int64_t target;

    at->next = Opcodes_ends(walk->opcodes, opcode) ? INSTRUCTION_NONE
                                                   : number_at(walk, behind);
    at->other = at->next;
    if (!Opcodes_jumps(walk->opcodes, opcode))
        return;
    target = Opcodes_jumps_back(walk->opcodes, opcode)
                 ? behind - (int64_t)argument
                 : behind + (int64_t)argument;
    if (walk->opcodes->flags[opcode] & OPCODE_ITER)
        target = behind_loop(walk, target);
    if (number_at(walk, target) == INSTRUCTION_NONE)
        // The target is outside the bytecode, which is not that of the running
        // interpreter.
        return;
    at->other = number_at(walk, target);
    if (at->next == INSTRUCTION_NONE)
        at->next = at->other;
    if (walk->opcodes->flags[opcode] & OPCODE_LOOP) {
        at->flags |= INSTRUCTION_LOOP;
        walk->all[at->other].flags |= INSTRUCTION_HEAD;
    }
}

static void set_flags(struct Walk *walk, struct Instruction *at)
{
    uint8_t opcode = opcode_at(walk, at->unit);
    unsigned flags = walk->opcodes->flags[opcode];

    if (flags & OPCODE_RESUME)
        walk->begun = true;
    else if (walk->begun && !Opcodes_is(walk->opcodes, opcode, "END_FOR"))
        at->flags |= INSTRUCTION_FIRES;
    if (flags & (OPCODE_RETURN | OPCODE_YIELD))
        at->flags |= INSTRUCTION_GATE;
}

// Marks as gates the instructions that are in no instruction's `next` or
// `other`. The program reaches instructions that no other instruction has as
// its next one only by an exception. If an instruction that only an exception
// reaches has no hook, unknown instructions can have run between two events of
// a frame.
static void mark_handlers(const struct Walk *walk)
{
    uint32_t i;

    for (i = 0; i < walk->count; i++)
        walk->all[i].flags |= INSTRUCTION_GATE;
    for (i = 0; i < walk->count; i++) {
        const struct Instruction *at = &walk->all[i];

        if (at->next != INSTRUCTION_NONE)
            walk->all[at->next].flags &= (uint8_t)~INSTRUCTION_GATE;
        if (at->other != INSTRUCTION_NONE)
            walk->all[at->other].flags &= (uint8_t)~INSTRUCTION_GATE;
    }
}

static void lay_out(struct Walk *walk)
{
    uint32_t unit = 0, argument = 0, i;

    while (unit < walk->units) {
        uint8_t opcode = opcode_at(walk, unit);
        uint32_t end = unit + (uint32_t)Opcodes_length(walk->opcodes, opcode);
        uint16_t number = number_at(walk, unit);

        argument = argument << 8 | walk->code->who.bytecode[2 * unit + 1];
        if (!(walk->opcodes->flags[opcode] & OPCODE_EXTENDED) &&
            number != INSTRUCTION_NONE) {
            struct Instruction *at = &walk->all[number];

            at->unit = (uint16_t)unit;
            at->hook =
                (uint8_t)(HOOK_INSTRUCTION +
                          (Opcodes_is_far(walk->opcodes, unit) ? HOOK_FAR : 0));
            at->stop_at = walk->stop_at;
            set_next(walk, at, end, argument);
            argument = 0;
        }
        unit = end;
    }
    mark_handlers(walk);
    for (i = 0; i < walk->count; i++)
        set_flags(walk, &walk->all[i]);
    // The last entry stands for an unknown instruction and has no next
    // instruction.
    walk->all[walk->count].next = INSTRUCTION_NONE;
    walk->all[walk->count].other = INSTRUCTION_NONE;
}

// Returns an array of the instructions of `code` by number, with one more entry
// for an unknown instruction. *count does not include this last entry. Returns
// NULL if memory is out.
static struct Instruction *new_instructions(const struct Code *code,
                                            const struct Opcodes *opcodes,
                                            uint64_t threshold, uint32_t *count)
{
    struct Walk walk = {.code = code, .opcodes = opcodes};

    walk.stop_at = threshold ? threshold : CODE_NEVER;
    measure(&walk);
    // The array needs two more entries. One entry is for an unknown
    // instruction, and one is for an instruction number that is one too high.
    walk.all = Heap_zeroed(walk.count + 2u, sizeof *walk.all);
    if (!walk.all)
        return NULL;
    lay_out(&walk);
    *count = walk.count;
    return walk.all;
}

int Code_make_precise(struct Code *code, const struct Opcodes *opcodes,
                      uint64_t threshold)
{
    uint32_t i;

    code->layout.instructions = new_instructions(
        code, opcodes, threshold, &code->layout.instruction_count);
    if (!code->layout.instructions)
        return -ENOMEM;
    for (i = 0; i < code->layout.site_count; i++) {
        // In precise mode the block that ends with a return or a yield has only
        // this instruction.
        code->layout.sites[i].reach = 1;
        // Jumps and branches have no hook in precise mode.
        if (code->layout.sites[i].kind >= SITE_JUMP)
            code->layout.sites[i].redundant = true;
    }
    return 0;
}

void Code_show_instructions(struct Code *code)
{
    struct LineReader lines;
    uint32_t i;

    LineReader_init(&lines, code->who.line_table, code->who.line_table_size,
                    code->who.line);
    for (i = 0; i < code->layout.instruction_count; i++) {
        struct Instruction *at = &code->layout.instructions[i];

        at->flags |= INSTRUCTION_SHOWN;
        at->opcode = code->who.bytecode[2 * at->unit];
        at->line = LineReader_line(&lines, at->unit);
    }
}
