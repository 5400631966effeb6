// SPDX-License-Identifier: MIT
// Holds the names and properties of the running interpreter's opcodes. python/
// fills the tables once from the interpreter's own tables. Afterwards any
// thread may read the tables.
#ifndef OCULAR_TRACER_BASE_OPCODE_H
#define OCULAR_TRACER_BASE_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum OpcodeFlag {
    OPCODE_RESUME = 1 << 0,        // PY_START and PY_RESUME sites
    OPCODE_RETURN = 1 << 1,        // PY_RETURN sites
    OPCODE_YIELD = 1 << 2,         // PY_YIELD sites
    OPCODE_JUMP = 1 << 3,          // JUMP sites
    OPCODE_BRANCH = 1 << 4,        // BRANCH (BRANCH_LEFT / _RIGHT) sites
    OPCODE_LOOP = 1 << 5,          // jumps backwards
    OPCODE_ITER = 1 << 6,          // FOR_ITER, which has a redundant site
    OPCODE_SPECIALIZABLE = 1 << 7, // has type specialisations
    OPCODE_SPECIALIZED = 1 << 8,   // is a type specialisation
    // an armed site, which hides the original opcode
    OPCODE_INSTRUMENTED = 1 << 9,
    OPCODE_EXECUTOR = 1 << 10, // enters tier-2 or jitted code
    OPCODE_EXTENDED = 1 << 11, // EXTENDED_ARG, a prefix of the next opcode
    OPCODE_CALL = 1 << 12,     // calls an object on the stack
    OPCODE_PUSHES = 1 << 13,   // calls a Python function without any C code
    OPCODE_VERSIONED = 1 << 14 // a call whose caches have a function version
};

// The meaning of an opcode's argument.
enum OperandKind {
    OPERAND_NONE,   // no argument
    OPERAND_NUMBER, // the argument itself
    OPERAND_CONST,  // index of a constant in co_consts
    OPERAND_NAME,   // index of a name in co_names
    OPERAND_LOCAL,  // index of a local variable
    OPERAND_LOCALS, // two indices of local variables, four bits each
    // index of a word that is the same in all code, for example an operator
    OPERAND_TEXT,
    OPERAND_JUMP // distance of a jump
};

#define OPERAND_TEXTS 160

struct Operand {
    uint8_t kind; // enum OperandKind
    // number of bits by which the argument is shifted to get an index
    uint8_t shift;
    uint8_t text; // index of the first word in `texts`, for OPERAND_TEXT
    uint8_t text_count;
    // True if the argument's lowest bit says that a call will follow.
    bool callable;
};

struct Opcodes {
    char name[256][64];  // "" if no opcode has this number
    uint8_t base[256];   // the unspecialised opcode, or the opcode itself
    uint8_t caches[256]; // inline cache units; the first one is a counter
    uint16_t flags[256]; // enum OpcodeFlag of this opcode, not of its base
    // The value of an instruction's first cache unit before the instruction's
    // first run, if the instruction can be specialised. CPython counts down
    // from this value, and sets a higher value after each failed
    // specialisation.
    uint16_t birth_counter;
    // The first code unit whose byte offset exceeds the small integers that
    // CPython keeps. At each event at this unit or a later unit, CPython
    // creates an integer object. 0 means that there is no such unit.
    uint16_t far_unit;
    struct Operand operand[256]; // indexed by base opcode
    char texts[OPERAND_TEXTS][24];
    // True if PUSH_NULL comes before the callable.
    bool null_first;
};

static inline bool Opcodes_is_far(const struct Opcodes *opcodes, size_t unit)
{
    return opcodes->far_unit && unit >= opcodes->far_unit;
}

// Returns the length of an instruction in code units of 2 bytes. The length is
// 1 plus the number of the opcode's inline cache units.
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

// The next functions describe how a base opcode changes the flow of control.
//
// Returns true if the argument is the distance of a jump, which may be
// conditional.
bool Opcodes_jumps(const struct Opcodes *opcodes, uint8_t opcode);
// Returns true if a jump goes backwards.
bool Opcodes_jumps_back(const struct Opcodes *opcodes, uint8_t opcode);
// Returns true if the next instruction never runs right after this one.
bool Opcodes_ends(const struct Opcodes *opcodes, uint8_t opcode);
bool Opcodes_is(const struct Opcodes *opcodes, uint8_t opcode,
                const char *name);

#endif
