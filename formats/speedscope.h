// SPDX-License-Identifier: MIT
// speedscope's JSON. profile_file.c calls it; any thread.
#ifndef OCULAR_FORMATS_SPEEDSCOPE_H
#define OCULAR_FORMATS_SPEEDSCOPE_H

#include "formats/profile.h"

// Errors stick to `out`.
void Speedscope_write(const struct Profile *profile, struct Bytes *out);

#endif
