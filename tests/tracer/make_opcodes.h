// SPDX-License-Identifier: MIT
// Makes a small instruction set like that of CPython, for tests that need
// bytecode but no interpreter.
#pragma once

#include "tracer/base/opcode.h"

#include <stdio.h>
#include <string.h>

enum {
    CACHE,
    NOP,
    RESUME,
    LOAD_FAST,
    STORE_FAST,
    GET_ITER,
    FOR_ITER, // 1 cache
    END_FOR,
    POP_TOP,
    BINARY_OP,         // 1 cache
    POP_JUMP_IF_FALSE, // 1 cache
    JUMP_FORWARD,
    JUMP_BACKWARD, // 1 cache
    RETURN_VALUE,
    YIELD_VALUE,
    RAISE_VARARGS,
    PUSH_EXC_INFO,
    EXTENDED_ARG,
    FOR_ITER_RANGE = 100,
    BINARY_OP_ADD_INT,
    ENTER_EXECUTOR,
    BINARY_OP_ADD_FLOAT,
    BINARY_OP_ADD_UNICODE,
    INSTRUMENTED_JUMP_BACKWARD = 240,
    INSTRUMENTED_FOR_ITER,
    INSTRUMENTED_LINE
};

static inline void set_opcode(struct Opcodes *opcodes, int number,
                              const char *name, int base, int caches, int flags)
{
    snprintf(opcodes->name[number], sizeof opcodes->name[number], "%s", name);
    opcodes->base[number] = (uint8_t)base;
    opcodes->caches[number] = (uint8_t)caches;
    opcodes->flags[number] = (uint16_t)flags;
}

#define SET(name, caches, flags)                                               \
    set_opcode(opcodes, name, #name, name, caches, flags)

static inline void make_opcodes(struct Opcodes *opcodes)
{
    memset(opcodes, 0, sizeof *opcodes);
    for (int i = 0; i < 256; i++)
        opcodes->base[i] = (uint8_t)i;
    SET(CACHE, 0, 0);
    SET(NOP, 0, 0);
    SET(RESUME, 0, OPCODE_RESUME);
    SET(LOAD_FAST, 0, 0);
    SET(STORE_FAST, 0, 0);
    SET(GET_ITER, 0, 0);
    SET(FOR_ITER, 1, OPCODE_BRANCH | OPCODE_ITER | OPCODE_SPECIALIZABLE);
    SET(END_FOR, 0, 0);
    SET(POP_TOP, 0, 0);
    SET(BINARY_OP, 1, OPCODE_SPECIALIZABLE);
    SET(POP_JUMP_IF_FALSE, 1, OPCODE_BRANCH);
    SET(JUMP_FORWARD, 0, OPCODE_JUMP);
    SET(JUMP_BACKWARD, 1, OPCODE_JUMP | OPCODE_LOOP);
    SET(RETURN_VALUE, 0, OPCODE_RETURN);
    SET(YIELD_VALUE, 0, OPCODE_YIELD);
    SET(RAISE_VARARGS, 0, 0);
    SET(PUSH_EXC_INFO, 0, 0);
    SET(EXTENDED_ARG, 0, OPCODE_EXTENDED);
    set_opcode(opcodes, FOR_ITER_RANGE, "FOR_ITER_RANGE", FOR_ITER, 1,
               OPCODE_SPECIALIZED);
    set_opcode(opcodes, BINARY_OP_ADD_INT, "BINARY_OP_ADD_INT", BINARY_OP, 1,
               OPCODE_SPECIALIZED);
    set_opcode(opcodes, BINARY_OP_ADD_FLOAT, "BINARY_OP_ADD_FLOAT", BINARY_OP,
               1, OPCODE_SPECIALIZED);
    set_opcode(opcodes, BINARY_OP_ADD_UNICODE, "BINARY_OP_ADD_UNICODE",
               BINARY_OP, 1, OPCODE_SPECIALIZED);
    SET(ENTER_EXECUTOR, 0, OPCODE_EXECUTOR);
    set_opcode(opcodes, INSTRUMENTED_JUMP_BACKWARD,
               "INSTRUMENTED_JUMP_BACKWARD", JUMP_BACKWARD, 1,
               OPCODE_INSTRUMENTED);
    set_opcode(opcodes, INSTRUMENTED_FOR_ITER, "INSTRUMENTED_FOR_ITER",
               FOR_ITER, 1, OPCODE_INSTRUMENTED);
    SET(INSTRUMENTED_LINE, 0, OPCODE_INSTRUMENTED);
    opcodes->birth_counter = 0x11;
}

#undef SET
