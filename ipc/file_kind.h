// SPDX-License-Identifier: MIT
// The suffix of a file's name says what Ocular writes into the file. The tracer
// writes the file, and the viewer names the content. Any thread may call these
// functions.
#ifndef OCULAR_IPC_FILE_KIND_H
#define OCULAR_IPC_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum FileContent {
    FILE_JSON,       // a timeline; also the default for other suffixes
    FILE_PFTRACE,    // .pftrace: a timeline in Perfetto's protobuf format
    FILE_FOLDED,     // .folded: one line per stack, for flame graphs
    FILE_SPEEDSCOPE, // .speedscope.json
    FILE_PSTATS,     // .pstats: for Python's pstats module
    FILE_PPROF,      // .pb: pprof's protobuf format
    FILE_PAGE,       // .html, .svg: Python makes the page from folded stacks
    // .ocular: a recording, which can be converted into the other kinds.
    FILE_RECORDING,
};

struct FileKind {
    enum FileContent content;
    bool gzipped; // ".gz" follows the suffix
    size_t stem;  // bytes of the path before the suffixes
};

struct FileKind FileKind_of(const char *path);
// Returns whether the file holds sampled stacks and not a timeline.
bool FileKind_is_profile(const char *path);

#endif
