// SPDX-License-Identifier: MIT
// Writer: Code_new (code.c), before others see the code; immutable from then
// on. The part of struct Code that says which code object it is, with the id in
// struct CodeHot. Any thread reads.
#ifndef OCULAR_TRACER_CODE_CODE_IDENTITY_H
#define OCULAR_TRACER_CODE_CODE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes that are kept of a name or a path, NUL included; what is longer ends in
// "...". A program may make names of megabytes.
#define CODE_TEXT_SIZE 4096

struct CodeIdentity {
    uintptr_t address;      // of the code object
    uint32_t line;          // its first; 0: it has none
    uint32_t version;       // of its functions; 0: they have none
    bool own;               // the program's code, and no library's
    char *name;             // qualified; UTF-8
    char *file;             // its path
    uint8_t *bytecode;      // base opcodes, 2 * unit_count bytes
    uint8_t *line_table;    // co_linetable
    size_t line_table_size; // bytes
};

#endif
