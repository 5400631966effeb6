// SPDX-License-Identifier: MIT
// Writes the timeline in Perfetto's protobuf format, as packets with
// TrackEvents.
#pragma once

#include "formats/trace_writer.h"

extern const struct TraceFormat Pftrace_format;
