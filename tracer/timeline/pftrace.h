// SPDX-License-Identifier: MIT
// The timeline in Perfetto's own format, protobuf: packets of TrackEvents.
#ifndef OCULAR_TRACER_TIMELINE_PFTRACE_H
#define OCULAR_TRACER_TIMELINE_PFTRACE_H

#include "tracer/timeline/trace_writer.h"

extern const struct TraceFormat Pftrace_format;

#endif
