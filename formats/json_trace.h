// SPDX-License-Identifier: MIT
// The timeline as a Perfetto / Chrome trace in JSON object format.
#ifndef OCULAR_FORMATS_JSON_TRACE_H
#define OCULAR_FORMATS_JSON_TRACE_H

#include "formats/trace_writer.h"

extern const struct TraceFormat JsonTrace_format;

#endif
