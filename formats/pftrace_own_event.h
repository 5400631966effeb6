// SPDX-License-Identifier: MIT
// Writes those events of a protobuf trace that are not calls. The events are
// marks and spans of the program, counters, changes of specialisation, times in
// which a function was dark, steps of tasks, and samples. pftrace.c uses the
// functions of pftrace_own_event.h.
#pragma once

#include "formats/trace_writer.h"

// PftraceOwnEvent_said and the functions after it are members of a TraceFormat.
int PftraceOwnEvent_said(struct TraceWriter *writer, uint64_t ticks,
                         const struct Mark *mark);
int PftraceOwnEvent_task(struct TraceWriter *writer, uint64_t ticks,
                         const struct Mark *task);
int PftraceOwnEvent_counter(struct TraceWriter *writer, uint64_t ns,
                            const struct TraceCounter *counter);
int PftraceOwnEvent_change(struct TraceWriter *writer, uint64_t ns,
                           const struct TraceChange *change);
int PftraceOwnEvent_slice(struct TraceWriter *writer,
                          const struct TraceSlice *slice);
int PftraceOwnEvent_own(struct TraceWriter *writer);
int PftraceOwnEvent_sample(struct TraceWriter *writer, uint64_t ns,
                           const struct TimelineSample *sample);
