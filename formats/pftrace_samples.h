// SPDX-License-Identifier: MIT
// Writes samples in Perfetto's protobuf format. pftrace.c uses the functions of
// pftrace_samples.h.
#pragma once

#include "formats/trace_writer.h"

// PftraceSamples_begin and PftraceSamples_put are members of a TraceFormat.
int PftraceSamples_begin(struct TraceWriter *writer);
int PftraceSamples_put(struct TraceWriter *writer, uint64_t ns,
                       const struct TimelineSample *sample);
