// SPDX-License-Identifier: MIT
// A profile as a file of another tool: which one is said by the name's ending.
// Built in memory, some MiB where thousands of stacks are deep. Export calls
// it; any thread.
#ifndef OCULAR_TRACER_TIMELINE_PROFILE_FILE_H
#define OCULAR_TRACER_TIMELINE_PROFILE_FILE_H

#include "tracer/timeline/profile.h"

enum ProfileFormat {
    PROFILE_NONE,       // the name is of no profile
    PROFILE_FOLDED,     // .folded: a line for each stack, for flame graphs
    PROFILE_SPEEDSCOPE, // .speedscope.json
    PROFILE_PSTATS,     // .pstats: Python's pstats module
    PROFILE_PPROF       // .pb: pprof's protobuf
};

// By the ending, before ".gz" where that is.
enum ProfileFormat ProfileFile_format(const char *path);
// 0 or -ENOMEM. PROFILE_NONE is no format to write.
int ProfileFile_write(const struct Profile *profile, enum ProfileFormat format,
                      struct Bytes *out);

#endif
