// SPDX-License-Identifier: MIT
// Writes those events of the JSON file that are not calls. The events are marks
// and spans of the program, counters, changes of specialisation, times in which
// a function was dark, steps of tasks, and samples. json_trace.c uses the
// functions of json_own_event.h.
#pragma once

#include "formats/trace_writer.h"

// JsonOwnEvent_said and the functions after it are members of a TraceFormat.
int JsonOwnEvent_said(struct TraceWriter *writer, uint64_t ticks,
                      const struct Mark *mark);
int JsonOwnEvent_task(struct TraceWriter *writer, uint64_t ticks,
                      const struct Mark *task);
int JsonOwnEvent_counter(struct TraceWriter *writer, uint64_t ns,
                         const struct TraceCounter *counter);
int JsonOwnEvent_change(struct TraceWriter *writer, uint64_t ns,
                        const struct TraceChange *change);
int JsonOwnEvent_slice(struct TraceWriter *writer,
                       const struct TraceSlice *slice);
int JsonOwnEvent_own(struct TraceWriter *writer);
int JsonOwnEvent_sample(struct TraceWriter *writer, uint64_t ns,
                        const struct TimelineSample *sample);
