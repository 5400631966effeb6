// SPDX-License-Identifier: MIT
// Everything beside the calls in the JSON file: marks and spans of the program,
// counters, instructions that were specialised, stretches in which a function
// was dark; and steps of tasks. json_trace.c's.
#ifndef OCULAR_FORMATS_JSON_ASIDE_H
#define OCULAR_FORMATS_JSON_ASIDE_H

#include "formats/trace_writer.h"

// The functions of a TraceFormat.
int JsonAside_said(struct TraceWriter *writer, uint64_t ticks,
                   const struct Mark *mark);
int JsonAside_task(struct TraceWriter *writer, uint64_t ticks,
                   const struct Mark *task);
int JsonAside_counter(struct TraceWriter *writer, uint64_t ns,
                      const struct TraceCounter *counter);
int JsonAside_change(struct TraceWriter *writer, uint64_t ns,
                     const struct TraceChange *change);
int JsonAside_dark(struct TraceWriter *writer, const struct TraceDark *dark);

#endif
