// SPDX-License-Identifier: MIT
// These fields of struct Code and the id in struct CodeHot identify the code
// object. Code_new (code.c) writes the fields before other threads see the
// code. After that the fields are immutable. Any thread reads the fields.
#ifndef OCULAR_TRACER_CODE_CODE_IDENTITY_H
#define OCULAR_TRACER_CODE_CODE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The largest size of the copy of a name or a path in bytes, including the NUL.
// The copy of a longer text is shortened and ends in "...", because a program
// may make names of megabytes.
#define CODE_TEXT_SIZE 4096

struct CodeIdentity {
    uintptr_t address; // address of the code object
    uint32_t line;     // first line; 0 if the code has no line
    // version of the code's functions; 0 if there is no version
    uint32_t version;
    bool own; // true for code of the program, false for a library's
    // true for the code that stands for the garbage collector, and has no hooks
    bool garbage;
    char *name;             // qualified name in UTF-8
    char *file;             // path of the file
    uint8_t *bytecode;      // base opcodes, in 2 * unit_count bytes
    uint8_t *line_table;    // copy of co_linetable, in the block of `bytecode`
    size_t line_table_size; // size of `line_table` in bytes
};

#endif
