// SPDX-License-Identifier: MIT
// struct NativeTable has the executable modules of the process, each with the
// rows by which a walk finds the caller of a C function (native_row.h). A
// signal handler walks over the C functions of its own thread, from the
// interrupted one to CPython's evaluation loop. The table does not change while
// a signal handler uses it, except that a module may get its rows.
#pragma once

#include "tracer/base/native_row.h"

#include <stdatomic.h>
#include <stdbool.h>

// Largest number of C functions in a walk.
#define NATIVE_DEPTH 32
// A walk reads at most this number of bytes of the stack.
#define NATIVE_STACK (128u << 10)

// The rows of a file (native_row.h), with an index by pages. Immutable.
struct NativeIndex {
    struct NativeRows rows;
    uint32_t first;  // Address of the first page that has rows.
    uint32_t pages;  // Number of pages in the index.
    uint32_t *start; // Index of the first row of each page, and of the end.
};

// A file that the process has mapped to run it, with the offset of the mapping.
struct NativeBinary {
    // NULL as long as the rows are not read. The sampler's thread stores the
    // pointer, and signal handlers load it.
    struct NativeIndex *_Atomic index;
    // Only the sampler's thread uses the fields below.
    struct NativeBinary *next;
    char *path; // Owned.
    uint64_t inode, offset;
    uint32_t number; // Number of binaries found before.
    uint32_t scan;   // Native.scans when the binary was found.
    bool tried;      // True if reading the rows was tried.
    char build[NATIVE_BUILD];
};

struct NativeModule {
    uintptr_t from, to;
    struct NativeBinary *binary;
};

struct NativeTable {
    size_t count;
    struct NativeModule modules[]; // Sorted by address.
};

// How a walk has ended. 0 means that there was no walk.
enum NativeEnd {
    NATIVE_WHOLE = 1, // The walk has reached the evaluation loop.
    NATIVE_THREAD,    // The walk reached the thread's first function.
    NATIVE_CUT,       // The caller of the last function is not known.
    // The last address is in no module, or in one without rows.
    NATIVE_STRANGE
};

struct NativeWalk {
    uintptr_t pc, sp, bp; // Set by the caller.
    unsigned depth;
    enum NativeEnd end;
    // Addresses in the functions, the innermost function first. The address in
    // a calling function is in its call instruction.
    uintptr_t pcs[NATIVE_DEPTH];
};

// Makes the index of a file's rows, and takes over the ownership of the rows.
// Returns NULL, and frees the rows, if there is no memory.
struct NativeIndex *NativeIndex_new(struct NativeRows *rows);
void NativeIndex_free(struct NativeIndex *index); // `index` may be NULL.
// Returns the row for an address in the file, or NULL.
const struct NativeRow *NativeIndex_find(const struct NativeIndex *index,
                                         uintptr_t at);
// Returns the module that contains an address in memory, or NULL.
const struct NativeModule *NativeTable_find(const struct NativeTable *table,
                                            uintptr_t pc);
// Returns the address, in the module's file, of the address `pc` in memory. The
// module has rows.
static inline uintptr_t NativeModule_at(const struct NativeModule *module,
                                        const struct NativeIndex *index,
                                        uintptr_t pc)
{
    return pc - module->from + (uintptr_t)index->rows.address;
}
// Walks over the C functions of the calling thread. A page of the stack is read
// only after the kernel has said that the page is readable. The walk ends at
// the first page that is not readable. NativeTable_walk is async-signal-safe.
void NativeTable_walk(const struct NativeTable *table, struct NativeWalk *walk);
