// SPDX-License-Identifier: MIT
// Writes those events of a protobuf trace that are not calls. The events are
// marks and spans of the program, counters, changes of specialisation, times in
// which a function was dark, steps of tasks, and samples. pftrace.c uses the
// functions of pftrace_aside.h.
#pragma once

#include "formats/trace_writer.h"

// PftraceAside_said and the functions after it are members of a TraceFormat.
int PftraceAside_said(struct TraceWriter *writer, uint64_t ticks,
                      const struct Mark *mark);
int PftraceAside_task(struct TraceWriter *writer, uint64_t ticks,
                      const struct Mark *task);
int PftraceAside_counter(struct TraceWriter *writer, uint64_t ns,
                         const struct TraceCounter *counter);
int PftraceAside_change(struct TraceWriter *writer, uint64_t ns,
                        const struct TraceChange *change);
int PftraceAside_dark(struct TraceWriter *writer, const struct TraceDark *dark);
int PftraceAside_own(struct TraceWriter *writer);
int PftraceAside_sample(struct TraceWriter *writer, uint64_t ns,
                        const struct TimelineSample *sample);
