// SPDX-License-Identifier: MIT
// Writes a frozen timeline to a file that Perfetto opens: in its own protobuf
// format if the path ends in ".pftrace", else in JSON; gzipped if ".gz"
// follows. Any thread that may block; holds no lock of the tracer.
#ifndef OCULAR_FORMATS_PERFETTO_H
#define OCULAR_FORMATS_PERFETTO_H

#include "tracer/timeline/timeline.h"
#include "tracer/timeline/trace.h"

// Writes to a temporary file beside `path` and renames it, so that `path` is
// either whole or untouched. Or to the descriptor, which stays open; then
// `path` is but a name. 0 or -errno (-ECANCELED when cancelled, -EEXIST
// where something is there by now that is not to be overwritten).
int Perfetto_write(const struct PerfettoTrace *trace, const char *path,
                   struct PerfettoResult *result);

#endif
