// SPDX-License-Identifier: MIT
// Writes speedscope's JSON. profile_file.c calls this code, on any thread.
#ifndef OCULAR_FORMATS_SPEEDSCOPE_H
#define OCULAR_FORMATS_SPEEDSCOPE_H

#include "formats/profile.h"

// An error is stored in `out`.
void Speedscope_write(const struct Profile *profile, struct Bytes *out);

#endif
