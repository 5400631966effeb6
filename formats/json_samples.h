// SPDX-License-Identifier: MIT
// Writes the samples into the JSON file. json_trace.c uses the functions of
// json_samples.h.
#pragma once

#include "formats/trace_writer.h"

// JsonSamples_begin and JsonSamples_put are members of a TraceFormat.
int JsonSamples_begin(struct TraceWriter *writer);
int JsonSamples_put(struct TraceWriter *writer, uint64_t ns,
                    const struct TimelineSample *sample);
