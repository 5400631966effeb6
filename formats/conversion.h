// SPDX-License-Identifier: MIT
// Makes a file for other tools from one or more recordings. The suffix of the
// output's name decides whether the output is a timeline or a profile. A
// profile can only be made of one recording.
#pragma once

#include "tracer/timeline/formats.h"

// Returns 0 or -errno. -EEXIST means that the output file exists. If a
// recording cannot be read, conversion->unreadable is set to true and
// conversion->why says why.
int Conversion_run(struct Conversion *conversion);

// The functions that the library of formats/ offers to the tracer.
extern const struct Formats Conversion_formats;
