// SPDX-License-Identifier: MIT
// Classifies the opcodes that change the flow of control. An opcode is
// identified by its name, because numbers of opcodes change more often between
// versions of CPython.
#include "tracer/base/opcode.h"

#include <string.h>

bool Opcodes_is(const struct Opcodes *opcodes, uint8_t opcode, const char *name)
{
    return !strcmp(opcodes->name[opcode], name);
}

bool Opcodes_jumps(const struct Opcodes *opcodes, uint8_t opcode)
{
    unsigned sites = OPCODE_JUMP | OPCODE_BRANCH | OPCODE_LOOP;

    // For some jumps CPython has no event, so the flags do not show that they
    // jump.
    return opcodes->flags[opcode] & sites ||
           !strncmp(opcodes->name[opcode], "JUMP", 4) ||
           Opcodes_is(opcodes, opcode, "SEND");
}

bool Opcodes_jumps_back(const struct Opcodes *opcodes, uint8_t opcode)
{
    return opcodes->flags[opcode] & OPCODE_LOOP ||
           strstr(opcodes->name[opcode], "BACKWARD");
}

bool Opcodes_ends(const struct Opcodes *opcodes, uint8_t opcode)
{
    return opcodes->flags[opcode] & OPCODE_RETURN ||
           Opcodes_is(opcodes, opcode, "RERAISE") ||
           Opcodes_is(opcodes, opcode, "RAISE_VARARGS") ||
           Opcodes_is(opcodes, opcode, "INTERPRETER_EXIT") ||
           Opcodes_is(opcodes, opcode, "JUMP_FORWARD") ||
           (Opcodes_jumps(opcodes, opcode) &&
            Opcodes_jumps_back(opcodes, opcode));
}
