// SPDX-License-Identifier: MIT
// struct Native knows the C functions that samples have found on the machine's
// stack. It finds the modules of the process in /proc/self/maps, and has the
// rows of a module's file read when a sample needs them (native_table.h). A C
// function is known by its file and its address, and only a viewer or an
// exporter reads its name. While no viewer and no setting asks for C functions,
// handlers have no table, and there are no rows. Only the sampler's thread
// calls the functions, unless they say otherwise.
#pragma once

#include "ipc/base/arena.h"
#include "ipc/base/id_map.h"
#include "tracer/sample/flame.h"
#include "tracer/sample/native_table.h"

#include <pthread.h>

// Room for the ids of one walk and for FLAME_NATIVE_ID.
#define NATIVE_IDS (NATIVE_DEPTH + 1)

struct NativeFunction {
    const struct NativeBinary *binary;
    uint32_t at; // Address of the function in the file; 0 if unknown.
};

struct Native {
    // Reads the rows of a file, or NULL if nothing can read them.
    NativeReader *reader;
    struct NativeTable *_Atomic table; // The handlers' table, or NULL.
    struct NativeTable
        *retired; // A table that handlers may still use, or NULL.
    // CLOCK_MONOTONIC in ns until which there are walks. Any thread may set it.
    _Atomic uint64_t wanted_ns;
    uint64_t scanned_ns; // CLOCK_MONOTONIC in ns at which modules were found.
    uint64_t now_ns;     // CLOCK_MONOTONIC in ns at the newest step.
    uint64_t reading_ns; // CPU time for reading files in the newest step.
    bool stale;          // A sample has found code of an unknown module.
    bool settled; // Such code is in no module, as the newest second has shown.
    struct NativeBinary *binaries;
    uint32_t binary_count;
    uint32_t scans;       // Number of times that modules were found.
    pthread_mutex_t lock; // Guards `functions` and `count`.
    struct NativeFunction *functions;
    size_t count, room;
    struct IdMap
        ids; // Binary's number and address -> index of the function + 1.
    // The innermost C functions by the Python function and line below which
    // they ran: paths of the function's id, the line, and the C function's id.
    struct Flame lines;
};

void Native_init(struct Native *native, NativeReader *reader);
// No handler uses the table any more.
void Native_release(struct Native *native);
// Frees memory in a forked child, except what the sampler's thread may have
// been about to replace or to free when the process forked. `native` is not
// used again.
void Native_abandon(struct Native *native);
// Starts or ends the walks, if this is due, and finds new modules.
void Native_step(struct Native *native, uint64_t now_ns);
// Writes the ids of the C functions of a walk to `ids`, the outermost first,
// and returns their number. If not all callers are known, FLAME_NATIVE_ID comes
// first. Reads the rows of a module that the walk lacked; the number is then 0.
size_t Native_resolve(struct Native *native, const uintptr_t *pcs, size_t depth,
                      enum NativeEnd end, uint32_t *ids);
// Adds CPU time of the innermost C function `id` below a line.
void Native_add_line(struct Native *native, const struct ShareTime *now,
                     const uint32_t path[3], double cpu_ns);
// Sets the file, the address and the build id of the function `function->id`.
// Returns false if there is no memory. Any thread may call this function.
bool Native_describe(struct Native *native, struct FlameFunction *function,
                     struct Arena *arena);
