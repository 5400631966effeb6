// SPDX-License-Identifier: MIT
// Reads the names of C functions in the tables of symbols of their files: the
// file that the process runs, or its file for debuggers (a build id or a
// .gnu_debuglink names it). Names of C++ and Rust are shown as in the source.
// elfutils reads the files; without it a name is the file and the address.
#pragma once

#include "ipc/flame_table.h"
#include "ipc/listing.h"

#include <sys/types.h>

struct NativeSource;

// The files that were read. A zeroed struct has none. Only one thread at a time
// may use a struct NativeNames.
struct NativeNames {
    struct NativeSource *sources;
    // Opens a file of the process `pid` for reading. Returns a descriptor or
    // -errno. NULL: the files are those of this process.
    int (*open)(pid_t pid, const char *path, int flags);
    pid_t pid;
};

void NativeNames_release(struct NativeNames *names);
// Sets the names of the C functions of a table of stacks, or of a listing. A
// name that memory is lacking for stays null.
void NativeNames_set(struct NativeNames *names, struct FlameTable *table);
void NativeNames_set_listing(struct NativeNames *names,
                             struct Listing *listing);
// Writes the name as in the source of the function with this symbol.
void NativeNames_demangle(const char *symbol, char *text, size_t size);
