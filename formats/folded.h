// SPDX-License-Identifier: MIT
// Folded stacks, for flame graph scripts: one line per stack with its CPU time
// in us. profile_file.c calls this, on any thread.
#ifndef OCULAR_FORMATS_FOLDED_H
#define OCULAR_FORMATS_FOLDED_H

#include "formats/profile.h"

// An error is stored in `out`.
void Folded_write(const struct Profile *profile, struct Bytes *out);

#endif
