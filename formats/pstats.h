// SPDX-License-Identifier: MIT
// Writes a profile as a file for Python's pstats.
#pragma once

#include "formats/profile.h"

// Writes the profile to `out`. Stores an error in `out`.
void Pstats_write(const struct Profile *profile, struct Bytes *out);
