// SPDX-License-Identifier: MIT
// Folded stacks, for flame graph scripts: a line for each, with microseconds of
// CPU time. profile_file.c calls it; any thread.
#ifndef OCULAR_FORMATS_FOLDED_H
#define OCULAR_FORMATS_FOLDED_H

#include "formats/profile.h"

// Errors stick to `out`.
void Folded_write(const struct Profile *profile, struct Bytes *out);

#endif
