// SPDX-License-Identifier: MIT
// For a range of a C function's machine code, a struct NativeRow says how to
// find the function's caller on the stack. formats/native_rows.c makes the rows
// of a file from its call frame information (CFI, in .eh_frame), and
// tracer/sample/native_table.c uses them in a signal handler.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The value of the stack pointer in the caller is called CFA. The return
// address is the word below the CFA.
enum NativeRule {
    NATIVE_BY_RSP, // The CFA is rsp + `cfa`.
    NATIVE_BY_RBP, // The CFA is rbp + `cfa`.
    // The CFA (caller's stack pointer) follows from rsp and rip, as in an entry
    // of the procedure linkage table.
    NATIVE_BY_PLT,
    NATIVE_BY_WORD,   // The CFA is the word at rbp + `cfa`.
    NATIVE_OUTERMOST, // The function has no caller.
    NATIVE_NO_RULE    // The caller of this code cannot be found.
};

#define NATIVE_SAME INT16_MIN // The function has not changed its caller's rbp.

// Flags of a row.
enum {
    NATIVE_FIRST = 1,      // The row is the first one of a function.
    NATIVE_EVAL = 2,       // The row belongs to CPython's evaluation loop.
    NATIVE_RBP_BY_RBP = 4, // `rbp` is an offset from rbp and not from the CFA.
    // The function only forwards calls to another function, like an entry of
    // the procedure linkage table, so the function's CPU time counts as its
    // caller's time.
    NATIVE_FOLDED = 8
};

// A row describes the addresses from its `at` to the next row's `at`.
struct NativeRow {
    uint32_t at; // Address in the file (a virtual address of ELF).
    int32_t cfa;
    int16_t rbp;  // Offset at which the caller's rbp is saved, or NATIVE_SAME.
    uint8_t rule; // enum NativeRule
    uint8_t flags;
};

#define NATIVE_BUILD 41 // Size of a build id as a text, with its NUL.

// The rows of one file, sorted by address.
struct NativeRows {
    // Set by the caller of a NativeReader, or NULL. When the flag becomes true,
    // the reader gives up.
    const _Atomic bool *ends;
    struct NativeRow *rows; // Owned; freed by Heap_free.
    size_t count;
    // Virtual address of the byte at NativeReader's argument `offset`.
    uint64_t address;
    // The first 20 bytes of the build id in hexadecimal digits. If the file has
    // no build id, the letter "i", the file's inode, "." and the file's size.
    char build[NATIVE_BUILD];
};

// Reads the rows of the file at `path`. The file must have the inode `inode`,
// and `offset` lies in its executable segment. Returns 0 or -errno. -ENODATA
// means that the file has no executable segment there, and -ECANCELED that the
// reader has given up.
typedef int NativeReader(const char *path, uint64_t inode, uint64_t offset,
                         struct NativeRows *rows);
