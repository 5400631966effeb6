// SPDX-License-Identifier: MIT
// Writes the timeline of a trace, and of those that follow it in its list, to a
// file that Perfetto opens: in its own protobuf format if the path ends in
// ".pftrace", otherwise in JSON. The file is gzipped if ".gz" follows. Any
// thread that may block can call this; no lock of the tracer is held.
#ifndef OCULAR_FORMATS_PERFETTO_H
#define OCULAR_FORMATS_PERFETTO_H

#include "tracer/timeline/timeline.h"
#include "tracer/timeline/trace.h"

// Writes to a temporary file in the same directory and renames it to `path`, so
// that `path` is either complete or unchanged. If the first trace has a
// descriptor, writes to that and leaves it open; then `path` only gives the
// format. Returns 0 or -errno: -ECANCELED if cancelled, -EEXIST if `path`
// exists and must not be overwritten.
int Perfetto_write(const struct PerfettoTrace *trace, const char *path,
                   struct PerfettoResult *result);

#endif
