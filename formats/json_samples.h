// SPDX-License-Identifier: MIT
// Writes the samples into the JSON file. json_trace.c uses the functions of
// json_samples.h.
#ifndef OCULAR_FORMATS_JSON_SAMPLES_H
#define OCULAR_FORMATS_JSON_SAMPLES_H

#include "formats/trace_writer.h"

// JsonSamples_begin and JsonSamples_put are members of a TraceFormat.
int JsonSamples_begin(struct TraceWriter *writer);
int JsonSamples_put(struct TraceWriter *writer, uint64_t ns,
                    const struct TimelineSample *sample);

#endif
