// SPDX-License-Identifier: MIT
// struct Native knows the C functions that samples have found on the machine's
// stack. struct Native finds the executable files that the process has mapped
// (modules) in /proc/self/maps. If a sample needs the rows of a file, struct
// Native has them read (native_table.h). A C function is known by its file and
// its address, and only a viewer or an exporter reads its name. While no viewer
// and no setting asks for C functions, signal handlers have no table, and no
// rows are in memory. Only the sampler's thread calls the functions of
// native.h, unless a function says otherwise.
#pragma once

#include "ipc/base/arena.h"
#include "ipc/base/id_map.h"
#include "tracer/sample/flame.h"
#include "tracer/sample/native_table.h"

#include <pthread.h>

// Largest number of ids of one walk, which are C functions and FLAME_NATIVE_ID.
#define NATIVE_IDS (NATIVE_DEPTH + 1)
// Samples without an evaluation loop, after which it counts as not found.
#define NATIVE_MISSED 20

struct NativeFunction {
    const struct NativeBinary *binary;
    uint32_t at; // Address of the function in the file, or 0 if unknown.
};

struct Native {
    // Reads the rows of a file, or NULL if nothing can read them.
    NativeReader *reader;
    struct NativeTable *_Atomic table; // Table for signal handlers, or NULL.
    struct NativeTable
        *retired; // An old table that signal handlers may still use, or NULL.
    // CLOCK_MONOTONIC in ns until which C functions are walked. Any thread may
    // set it.
    _Atomic uint64_t wanted_ns;
    // CLOCK_MONOTONIC in ns when modules were last searched.
    uint64_t scanned_ns;
    uint64_t now_ns;     // CLOCK_MONOTONIC in ns at the newest step.
    uint64_t reading_ns; // CPU time for reading files in the newest step.
    // The sampler's thread must end, and gives up reading a file. Another
    // thread sets it.
    _Atomic bool ends;
    bool gave_up; // The sampler's thread has done so.
    // Number of samples of Python functions since the last walk that has found
    // CPython's evaluation loop. Any thread may read it.
    _Atomic uint32_t missed;
    bool stale; // True if a sample has found code of an unknown module.
    // True if the newest second has shown that such code is in no module.
    bool settled;
    struct NativeBinary *binaries;
    uint32_t binary_count;
    uint32_t scans;       // Number of searches for modules.
    pthread_mutex_t lock; // Guards `functions` and `count`.
    struct NativeFunction *functions;
    size_t count, room;
    struct IdMap
        // From the binary's number and the address to the index of the function
        // plus 1.
        ids;
    // The innermost C functions, for each Python function and line that has
    // called them. A path has the Python function's id, the line, and the C
    // function's id.
    struct Flame lines;
};

void Native_init(struct Native *native, NativeReader *reader);
// Native_release is called when no signal handler uses the table any more.
void Native_release(struct Native *native);
// Frees the memory in a forked child. At the fork the sampler's thread may have
// been about to replace or to free some memory, which is therefore not freed.
// `native` must not be used afterwards.
void Native_abandon(struct Native *native);
// Starts or ends walks over C functions, if this is due, and searches for new
// modules.
void Native_step(struct Native *native, uint64_t now_ns);
// Writes the ids of the C functions of a walk to `ids`, the outermost first,
// and returns their number. If not all callers are known, FLAME_NATIVE_ID comes
// first. If the walk lacked the rows of a module, reads these rows and returns
// 0.
size_t Native_resolve(struct Native *native, const uintptr_t *pcs, size_t depth,
                      enum NativeEnd end, uint32_t *ids);
// Notes how the walk of a sample of Python functions has ended.
static inline void Native_note(struct Native *native, enum NativeEnd end)
{
    if (end == NATIVE_WHOLE)
        atomic_store(&native->missed, 0);
    else if (end == NATIVE_THREAD)
        atomic_fetch_add(&native->missed, 1);
}

// Returns true if walks never find the evaluation loop. A stripped CPython that
// was built with tail calls has no symbol for it. Any thread may call this
// function.
static inline bool Native_misses_loop(const struct Native *native)
{
    return atomic_load(&native->missed) >= NATIVE_MISSED;
}

// Adds CPU time of the innermost C function to the line of the Python function
// that has called it. `path` is the path of Native.lines.
void Native_add_line(struct Native *native, const struct ShareTime *now,
                     const uint32_t path[3], double cpu_ns);
// Sets the file, the address and the build id of the function `function->id`.
// Any thread may call Native_describe.
void Native_describe(struct Native *native, struct FlameFunction *function,
                     struct Arena *arena);
