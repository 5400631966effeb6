// SPDX-License-Identifier: MIT
// Writes a profile in pprof's protobuf format.
#pragma once

#include "formats/profile.h"

// Writes the profile to `out`. Stores an error in `out`.
void Pprof_write(const struct Profile *profile, struct Bytes *out);
