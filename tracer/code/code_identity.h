// SPDX-License-Identifier: MIT
// struct CodeIdentity and the id in struct CodeHot identify the code object of
// a struct Code. Code_new (code.c) writes struct CodeIdentity before other
// threads see the code. After Code_new, struct CodeIdentity does not change.
// Any thread may read struct CodeIdentity.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The largest size in bytes of a copied name or path, including the NUL. If a
// name or a path is longer, its copy is shortened and ends in "...", because a
// program can make names of megabytes.
#define CODE_TEXT_SIZE 4096

// Says which ends of a function's calls CPython reports.
enum CodeEnds {
    ENDS_ALL,
    // The function is an asynchronous generator. From 3.13 on CPython reports
    // no end of a call if the program drops an asynchronous generator.
    ENDS_MOST,
    // The function is a generator and no coroutine, and programs often drop
    // generators before their end. Latencies of calls with ENDS_FEW are not
    // measured.
    ENDS_FEW
};

struct CodeIdentity {
    uintptr_t address; // Address of the code object.
    // Number of the code's first line, or 0 if the code has no line.
    uint32_t line;
    // Version number of the code's functions, or 0 if there is no version.
    uint32_t version;
    bool own; // True for the program's own code, false for a library's code.
    // True for the struct Code that has the values of garbage collections, and
    // has no hooks.
    bool garbage;
    // True for a struct Code that has the values of a C function, and has no
    // hooks.
    bool c_function;
    uint8_t ends;   // enum CodeEnds.
    bool coroutine; // True for a coroutine function.
    bool lines;     // True if hits of lines are counted while jumps have hooks.
    char *name;     // Qualified name in UTF-8.
    char *file;     // Path of the source file.
    uint8_t *bytecode; // Base opcodes and arguments, 2 * unit_count bytes.
    // Copy of co_linetable, in the same memory block as `bytecode`.
    uint8_t *line_table;
    size_t line_table_size; // Size of `line_table` in bytes.
};
