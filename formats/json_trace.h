// SPDX-License-Identifier: MIT
// Writes the timeline in the JSON object format of Perfetto and Chrome traces.
#pragma once

#include "formats/trace_writer.h"

extern const struct TraceFormat JsonTrace_format;
