// SPDX-License-Identifier: MIT
// The timeline in Perfetto's own format: protobuf packets of TrackEvents.
#ifndef OCULAR_FORMATS_PFTRACE_H
#define OCULAR_FORMATS_PFTRACE_H

#include "formats/trace_writer.h"

extern const struct TraceFormat Pftrace_format;

#endif
