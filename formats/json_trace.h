// SPDX-License-Identifier: MIT
// Writes the timeline in the JSON object format of Perfetto and Chrome traces.
#ifndef OCULAR_FORMATS_JSON_TRACE_H
#define OCULAR_FORMATS_JSON_TRACE_H

#include "formats/trace_writer.h"

extern const struct TraceFormat JsonTrace_format;

#endif
