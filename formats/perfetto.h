// SPDX-License-Identifier: MIT
// Writes the timelines in a list of traces to a file that Perfetto can open.
// The file is in Perfetto's protobuf format if the path ends in ".pftrace" or
// ".pftrace.gz", otherwise in JSON. The file is gzipped if the path ends in
// ".gz". Any thread that may block may call Perfetto_write. The caller of
// Perfetto_write holds no lock of the tracer.
#pragma once

#include "tracer/timeline/timeline.h"
#include "tracer/timeline/trace.h"

// Writes to a temporary file in the directory of the path and renames the file
// to the path, so that the file at the path is either complete or unchanged. If
// there is a descriptor, writes to the descriptor instead and leaves it open,
// and the path only decides the format. Returns 0 or -errno. -ECANCELED means
// that the writing was cancelled. -EEXIST means that the file exists and must
// not be overwritten.
int Perfetto_write(const struct PerfettoTrace *trace,
                   const struct FormatsFile *file,
                   struct PerfettoResult *result);
