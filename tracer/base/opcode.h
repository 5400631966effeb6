// SPDX-License-Identifier: MIT
// Holds the names and properties of the running interpreter's opcodes. Code in
// python/ fills struct Opcodes once from the interpreter's own tables. Any
// thread may read struct Opcodes after it is filled.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum OpcodeFlag {
    // At this opcode CPython can report PY_START or PY_RESUME.
    OPCODE_RESUME = 1 << 0,
    OPCODE_RETURN = 1 << 1, // CPython can report PY_RETURN here.
    OPCODE_YIELD = 1 << 2,  // CPython can report PY_YIELD here.
    OPCODE_JUMP = 1 << 3,   // CPython can report JUMP here.
    // CPython can report BRANCH here (from 3.14 on BRANCH_LEFT and
    // BRANCH_RIGHT).
    OPCODE_BRANCH = 1 << 4,
    OPCODE_LOOP = 1 << 5, // The opcode jumps backwards.
    // The opcode is FOR_ITER, whose count follows from the counts of other
    // opcodes.
    OPCODE_ITER = 1 << 6,
    OPCODE_SPECIALIZABLE = 1 << 7, // The opcode has specialised forms.
    OPCODE_SPECIALIZED = 1 << 8,   // The opcode is a specialised form.
    // The opcode replaces the original opcode where CPython calls a hook.
    OPCODE_INSTRUMENTED = 1 << 9,
    OPCODE_EXECUTOR = 1 << 10, // The opcode enters tier-2 or jitted code.
    // The opcode is EXTENDED_ARG, a prefix of the next opcode.
    OPCODE_EXTENDED = 1 << 11,
    OPCODE_CALL = 1 << 12, // The opcode calls an object on the stack.
    // The opcode calls a Python function without any C code.
    OPCODE_PUSHES = 1 << 13,
    // The opcode is a call whose inline caches contain a function version.
    OPCODE_VERSIONED = 1 << 14
};

// The meaning of an opcode's argument.
enum OperandKind {
    OPERAND_NONE,   // The opcode has no argument.
    OPERAND_NUMBER, // The argument is a plain number.
    OPERAND_CONST,  // Index of a constant in co_consts.
    OPERAND_NAME,   // Index of a name in co_names.
    OPERAND_LOCAL,  // Index of a local variable.
    OPERAND_LOCALS, // Two indices of local variables, with four bits each.
    // Index of a word that is the same in all code, for example of an operator.
    OPERAND_TEXT,
    OPERAND_JUMP // Distance of a jump in code units.
};

#define OPERAND_TEXTS 160

struct Operand {
    uint8_t kind; // enum OperandKind.
    // Number of bits by which the argument must be shifted to the right to get
    // an index.
    uint8_t shift;
    uint8_t text; // Index in `texts` of the first word for OPERAND_TEXT.
    uint8_t text_count;
    // True if the lowest bit of the argument says that a call will follow.
    bool callable;
};

struct Opcodes {
    // Name of each opcode, or "" if no opcode has this number.
    char name[256][64];
    // Unspecialised form of each opcode, or the opcode itself.
    uint8_t base[256];
    // Number of inline cache units of each opcode. The first cache unit is a
    // counter.
    uint8_t caches[256];
    // Bits of enum OpcodeFlag for each opcode itself, not for its base.
    uint16_t flags[256];
    // The value that the first cache unit of an instruction has before the
    // instruction's first run, if the instruction can be specialised. CPython
    // counts down from `birth_counter`, and sets a higher value after each
    // failed specialisation.
    uint16_t birth_counter;
    // The first code unit whose byte offset is too large for the small integers
    // that CPython allocates in advance. At each event in this code unit or in
    // a later one, CPython creates an integer object. `far_unit` is 0 if every
    // code unit's byte offset is a small integer.
    uint16_t far_unit;
    struct Operand operand[256]; // Indexed by the base opcode.
    char texts[OPERAND_TEXTS][24];
    // True if PUSH_NULL comes before the callable.
    bool null_first;
};

static inline bool Opcodes_is_far(const struct Opcodes *opcodes, size_t unit)
{
    return opcodes->far_unit && unit >= opcodes->far_unit;
}

// Returns the length of an instruction in code units of 2 bytes. The length is
// 1 plus the number of inline cache units of the opcode.
static inline size_t Opcodes_length(const struct Opcodes *opcodes,
                                    uint8_t opcode)
{
    return 1u + opcodes->caches[opcodes->base[opcode]];
}

// The text for an opcode that enters tier-2 or jitted code.
#define OPCODE_EXECUTOR_TEXT "(executor)"

static inline const char *Opcodes_text(const struct Opcodes *opcodes,
                                       uint8_t opcode)
{
    const char *name = opcodes->name[opcode];

    if (opcodes->flags[opcode] & OPCODE_EXECUTOR)
        return OPCODE_EXECUTOR_TEXT;
    return *name ? name : "?";
}

// Opcodes_jumps and the functions after it describe how a base opcode changes
// the flow of control.
//
// Returns true if the opcode's argument is the distance of a jump, even of a
// conditional jump.
bool Opcodes_jumps(const struct Opcodes *opcodes, uint8_t opcode);
// Returns true if the opcode jumps backwards.
bool Opcodes_jumps_back(const struct Opcodes *opcodes, uint8_t opcode);
// Returns true if the next instruction in the bytecode never runs right after
// this opcode.
bool Opcodes_ends(const struct Opcodes *opcodes, uint8_t opcode);
bool Opcodes_is(const struct Opcodes *opcodes, uint8_t opcode,
                const char *name);
