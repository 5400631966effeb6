// SPDX-License-Identifier: MIT
// Writes the events of the JSON file that are not calls. The events are marks
// and spans of the program, counters, specialised instructions, periods in
// which a function was dark, and steps of tasks. json_trace.c uses these
// functions.
#ifndef OCULAR_FORMATS_JSON_ASIDE_H
#define OCULAR_FORMATS_JSON_ASIDE_H

#include "formats/trace_writer.h"

// The next functions are members of a TraceFormat.
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
