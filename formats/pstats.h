// SPDX-License-Identifier: MIT
// Writes a file for Python's pstats. profile_file.c calls this code, on any
// thread.
#ifndef OCULAR_FORMATS_PSTATS_H
#define OCULAR_FORMATS_PSTATS_H

#include "formats/profile.h"

// An error is stored in `out`.
void Pstats_write(const struct Profile *profile, struct Bytes *out);

#endif
