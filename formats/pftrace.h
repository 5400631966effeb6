// SPDX-License-Identifier: MIT
// Writes the timeline in Perfetto's protobuf format, as packets with
// TrackEvents.
#ifndef OCULAR_FORMATS_PFTRACE_H
#define OCULAR_FORMATS_PFTRACE_H

#include "formats/trace_writer.h"

extern const struct TraceFormat Pftrace_format;

#endif
