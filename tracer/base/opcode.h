// SPDX-License-Identifier: MIT
// Names and properties of the running interpreter's opcodes. Filled once, from
// the interpreter's own tables, by python/; read-only afterwards, any thread.
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
    OPCODE_ITER = 1 << 6,          // FOR_ITER: its site follows from the loop's
    OPCODE_SPECIALIZABLE = 1 << 7, // has type specialisations
    OPCODE_SPECIALIZED = 1 << 8,   // is a type specialisation
    OPCODE_INSTRUMENTED = 1 << 9,  // an armed site hides what is there
    OPCODE_EXECUTOR = 1 << 10,     // enters tier-2 or jitted code
    OPCODE_EXTENDED = 1 << 11,     // EXTENDED_ARG: part of the next one
    OPCODE_CALL = 1 << 12,         // calls what is on the stack
    OPCODE_PUSHES = 1 << 13,       // ... which is a Python function: no C runs
    OPCODE_VERSIONED = 1 << 14     // ... of the version in its second cache
};

// The meaning of an opcode's argument.
enum OperandKind {
    OPERAND_NONE,   // it has none
    OPERAND_NUMBER, // itself
    OPERAND_CONST,  // one of the code object's constants
    OPERAND_NAME,   // ... names
    OPERAND_LOCAL,  // ... variables
    OPERAND_LOCALS, // two of them, four bits each
    OPERAND_TEXT,   // one of a few words, the same in all code: operators
    OPERAND_JUMP    // a distance
};

#define OPERAND_TEXTS 160

struct Operand {
    uint8_t kind;  // enum OperandKind
    uint8_t shift; // the argument is an index once it is shifted right
    uint8_t text;  // TEXT: the first of its words
    uint8_t text_count;
    bool callable; // the lowest bit says: what it pushes is to be called
};

struct Opcodes {
    char name[256][64];  // "" = no such opcode
    uint8_t base[256];   // the unspecialised opcode; itself if it is one
    uint8_t caches[256]; // inline cache units that follow; the first counts
    uint16_t flags[256]; // enum OpcodeFlag, of the opcode itself
    // What the first cache unit of a specialisable instruction holds before its
    // first run: it counts down from there, and higher after each failure.
    uint16_t birth_counter;
    // The first unit whose offset is not one of the small integers that CPython
    // keeps, so that it makes an object for each event there; 0 = none is.
    uint16_t far_unit;
    struct Operand operand[256]; // of base opcodes
    char texts[OPERAND_TEXTS][24];
    bool null_first; // PUSH_NULL stands before what is to be called, not behind
};

static inline bool Opcodes_is_far(const struct Opcodes *opcodes, size_t unit)
{
    return opcodes->far_unit && unit >= opcodes->far_unit;
}

// Units (2 bytes each) of the instruction at bytecode[2 * unit]: 1 + caches.
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

// An opcode's effect on the flow of control, beyond that of its sites. All take
// base opcodes.
// Its argument is the distance of a jump, taken always or at times.
bool Opcodes_jumps(const struct Opcodes *opcodes, uint8_t opcode);
// ...and that goes backwards.
bool Opcodes_jumps_back(const struct Opcodes *opcodes, uint8_t opcode);
// Control never goes on to the next instruction.
bool Opcodes_ends(const struct Opcodes *opcodes, uint8_t opcode);
bool Opcodes_is(const struct Opcodes *opcodes, uint8_t opcode,
                const char *name);

#endif
