// SPDX-License-Identifier: MIT
// Finds the names of C functions in the symbol table of the file that a process
// runs, or of its debug file, which a build id or a .gnu_debuglink names. Names
// of C++ and Rust are shown as they are written in the source. The files are
// read by elfutils. If elfutils is missing, the name of a function is the name
// of its file and the address.
#pragma once

#include "ipc/flame_table.h"
#include "ipc/listing.h"

#include <sys/types.h>

struct NativeSource;

// The files that were read so far. An empty struct has only zero bytes. Only
// one thread at a time may use a struct NativeNames.
struct NativeNames {
    struct NativeSource *sources;
    // Opens a file of the process `pid` for reading. Returns a descriptor or
    // -errno. If `open` is NULL, files of this process are opened.
    int (*open)(pid_t pid, const char *path, int flags);
    pid_t pid;
};

void NativeNames_release(struct NativeNames *names);
// Sets the names of the C functions in a table of stacks or in a listing. If
// memory is out, the name of a function stays NULL.
void NativeNames_set(struct NativeNames *names, struct FlameTable *table);
void NativeNames_set_listing(struct NativeNames *names,
                             struct Listing *listing);
// Demangles a symbol, which means that it writes the function's name as in the
// source.
void NativeNames_demangle(const char *symbol, char *text, size_t size);
