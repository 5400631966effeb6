// SPDX-License-Identifier: MIT
// Writer: Code_new (code.c), before other threads see the code. Afterwards the
// fields are immutable. These fields of struct Code, and the id in struct
// CodeHot, say which code object it is. Any thread reads them.
#ifndef OCULAR_TRACER_CODE_CODE_IDENTITY_H
#define OCULAR_TRACER_CODE_CODE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The most bytes that are kept of a name or a path, with the NUL. A longer text
// is cut and ends in "...", because a program may make names of megabytes.
#define CODE_TEXT_SIZE 4096

struct CodeIdentity {
    uintptr_t address;      // address of the code object
    uint32_t line;          // first line; 0: the code has none
    uint32_t version;       // version of its functions; 0: they have none
    bool own;               // code of the program, not of a library
    char *name;             // qualified name in UTF-8
    char *file;             // path of the file
    uint8_t *bytecode;      // base opcodes, 2 * unit_count bytes
    uint8_t *line_table;    // co_linetable
    size_t line_table_size; // bytes
};

#endif
