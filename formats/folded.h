// SPDX-License-Identifier: MIT
// Writes folded stacks for flame graph scripts. Each line is a stack and its
// CPU time in us. profile_file.c calls this code, on any thread.
#ifndef OCULAR_FORMATS_FOLDED_H
#define OCULAR_FORMATS_FOLDED_H

#include "formats/profile.h"

// An error is stored in `out`.
void Folded_write(const struct Profile *profile, struct Bytes *out);

#endif
