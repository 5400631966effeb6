// SPDX-License-Identifier: MIT
// Makes a file for other tools from one or more recordings. The suffix of the
// output's name decides whether the output is a timeline or a profile. A
// profile can be made from one recording only.
#pragma once

#include "tracer/timeline/formats.h"

// Returns 0 or -errno. -EEXIST means that the output file exists. If a
// recording cannot be read, conversion->unreadable is set to true and
// conversion->why says why.
int Conversion_run(struct Conversion *conversion);

// Functions of formats/ that the tracer calls through a loaded library.
extern const struct Formats Conversion_formats;
