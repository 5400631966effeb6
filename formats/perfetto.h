// SPDX-License-Identifier: MIT
// Writes the timelines of a list of traces to a file that Perfetto opens. The
// file has Perfetto's protobuf format if the path ends in ".pftrace", otherwise
// JSON. The file is gzipped if ".gz" follows. Any thread that may block can
// call Perfetto_write. The caller holds no lock of the tracer.
#ifndef OCULAR_FORMATS_PERFETTO_H
#define OCULAR_FORMATS_PERFETTO_H

#include "tracer/timeline/timeline.h"
#include "tracer/timeline/trace.h"

// Writes to a temporary file in the same directory and renames it to `path`, so
// that `path` is either complete or unchanged. If the first trace has a
// descriptor, writes to the descriptor and leaves the descriptor open. Then
// `path` only gives the format. Returns 0 or -errno. -ECANCELED means that the
// writing was cancelled, and -EEXIST that `path` exists and must not be
// overwritten.
int Perfetto_write(const struct PerfettoTrace *trace, const char *path,
                   struct PerfettoResult *result);

#endif
