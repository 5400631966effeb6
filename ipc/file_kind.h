// SPDX-License-Identifier: MIT
// struct FileKind says what Ocular writes into an output file, according to the
// suffix of the file's name. The tracer writes output files, and the viewer
// names their content. Any thread may call these functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum FileContent {
    // A timeline as JSON. Files with an unknown suffix also contain a timeline
    // as JSON.
    FILE_JSON,
    FILE_PFTRACE,     // .pftrace: a timeline in Perfetto's protobuf format.
    FILE_FOLDED,      // .folded: one line per stack, for flame graphs.
    FILE_WALL_FOLDED, // .wall.folded: the same with waits.
    FILE_SPEEDSCOPE,  // .speedscope.json: a profile for speedscope.
    FILE_PSTATS,      // .pstats: a profile for Python's pstats module.
    FILE_PPROF,       // .pb: a profile in pprof's protobuf format.
    FILE_PAGE, // .html, .svg: a page that Python makes from folded stacks.
    // .ocular: a recording, which can be converted into the other kinds.
    FILE_RECORDING,
};

struct FileKind {
    enum FileContent content;
    bool gzipped; // True if ".gz" follows the suffix.
    size_t stem; // Number of bytes of the path of the file before its suffixes.
};

struct FileKind FileKind_of(const char *path);
// Returns true if the file has sampled stacks, and not a timeline or a
// recording.
bool FileKind_is_profile(const char *path);
