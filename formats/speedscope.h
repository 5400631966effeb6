// SPDX-License-Identifier: MIT
// Writes a profile as speedscope's JSON.
#pragma once

#include "formats/profile.h"

// Writes the profile to `out`. Stores an error in `out`.
void Speedscope_write(const struct Profile *profile, struct Bytes *out);
