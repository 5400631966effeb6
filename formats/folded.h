// SPDX-License-Identifier: MIT
// Writes sampled stacks as text for flame graph scripts ("folded" stacks). Each
// line has a stack and the stack's CPU time in us. profile_file.c calls
// Folded_write, on any thread.
#pragma once

#include "formats/profile.h"

// Writes all stacks to `out`, and the waits if `wall` is true. Stores an error
// in `out`.
void Folded_write(const struct Profile *profile, struct Bytes *out, bool wall);
