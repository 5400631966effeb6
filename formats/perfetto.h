// SPDX-License-Identifier: MIT
// Writes the timelines in a list of traces to a file that Perfetto can open.
// The file is in Perfetto's protobuf format if the path ends in ".pftrace" or
// ".pftrace.gz", otherwise in JSON. The file is gzipped if the path ends in
// ".gz". Any thread that may block may call Perfetto_write. The caller of
// Perfetto_write holds no lock of the tracer.
#pragma once

#include "tracer/timeline/timeline.h"
#include "tracer/timeline/trace.h"

// Writes to a temporary file in the directory of `path` and renames the file to
// `path`, so that the file at `path` is either complete or unchanged. If the
// first trace has a descriptor, writes to this descriptor instead and leaves it
// open. If there is a descriptor, `path` only decides the format. Returns 0 or
// -errno. -ECANCELED means that the writing was cancelled. -EEXIST means that
// `path` exists and must not be overwritten.
int Perfetto_write(const struct PerfettoTrace *trace, const char *path,
                   struct PerfettoResult *result);
