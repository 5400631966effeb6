// SPDX-License-Identifier: MIT
// Converts a recording to a file for other tools. The suffix of the output's
// name decides whether the file is a timeline or a profile. The conversion runs
// on one thread of a program that is not traced.
#ifndef OCULAR_FORMATS_CONVERSION_H
#define OCULAR_FORMATS_CONVERSION_H

#include "tracer/timeline/formats.h"

// Returns 0 or -errno. -EEXIST means that the output exists. If the recording
// cannot be read, conversion->unreadable is set and conversion->why says why.
int Conversion_run(struct Conversion *conversion, const char *recording,
                   const char *output);

#endif
