// SPDX-License-Identifier: MIT
// Makes a file for other tools out of a recording: a timeline, or, by the
// name's ending, a profile. In a program that is not traced; one thread.
#ifndef OCULAR_FORMATS_CONVERSION_H
#define OCULAR_FORMATS_CONVERSION_H

#include "tracer/timeline/formats.h"

// 0 or -errno: of the output (-EEXIST: it is there), or of a recording that is
// unreadable.
int Conversion_run(struct Conversion *conversion, const char *recording,
                   const char *output);

#endif
