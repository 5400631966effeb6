// SPDX-License-Identifier: MIT
// Makes a file for other tools from recordings. The suffix of the output's name
// decides whether the file is a timeline or a profile. A profile is made of one
// recording. The conversion runs on one thread.
#ifndef OCULAR_FORMATS_CONVERSION_H
#define OCULAR_FORMATS_CONVERSION_H

#include "tracer/timeline/formats.h"

// Returns 0 or -errno. -EEXIST means that the output exists. If a recording
// cannot be read, conversion->unreadable is set and conversion->why says why.
int Conversion_run(struct Conversion *conversion);

#endif
