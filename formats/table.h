// SPDX-License-Identifier: MIT
// The library's functions, for whoever has linked it.
#ifndef OCULAR_FORMATS_TABLE_H
#define OCULAR_FORMATS_TABLE_H

#include "tracer/timeline/formats.h"

extern const struct Formats Table_formats;

#endif
