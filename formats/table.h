// SPDX-License-Identifier: MIT
// Declares the table of functions that the library of formats/ offers to the
// tracer.
#ifndef OCULAR_FORMATS_TABLE_H
#define OCULAR_FORMATS_TABLE_H

#include "tracer/timeline/formats.h"

extern const struct Formats Table_formats;

#endif
