// SPDX-License-Identifier: MIT
// The content of a file of ours, by the ending of its name. The tracer writes
// it, the viewer says what was written. Any thread.
#ifndef OCULAR_IPC_FILE_KIND_H
#define OCULAR_IPC_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum FileContent {
    FILE_JSON,       // a timeline, if no ending says otherwise
    FILE_PFTRACE,    // .pftrace: the same in Perfetto's protobuf
    FILE_FOLDED,     // .folded: a line for each stack, for flame graphs
    FILE_SPEEDSCOPE, // .speedscope.json
    FILE_PSTATS,     // .pstats: Python's pstats module
    FILE_PPROF,      // .pb: pprof's protobuf
    FILE_PAGE,       // .html, .svg: Python makes it of folded stacks
    FILE_RECORDING,  // .ocular: what any of these can be made of
};

struct FileKind {
    enum FileContent content;
    bool gzipped; // ".gz" behind it
    size_t stem;  // bytes of the path before the endings
};

struct FileKind FileKind_of(const char *path);
// Sampled stacks, not a timeline.
bool FileKind_is_profile(const char *path);

#endif
