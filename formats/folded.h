// SPDX-License-Identifier: MIT
// Writes sampled stacks as text for flame graph scripts ("folded" stacks). Each
// line has a stack and the stack's CPU time in us. profile_file.c calls
// Folded_write, on any thread.
#ifndef OCULAR_FORMATS_FOLDED_H
#define OCULAR_FORMATS_FOLDED_H

#include "formats/profile.h"

// Stores an error in `out`. If `wall` is true, also writes the waits.
void Folded_write(const struct Profile *profile, struct Bytes *out, bool wall);

#endif
