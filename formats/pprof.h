// SPDX-License-Identifier: MIT
// Writes pprof's protobuf. profile_file.c calls this code, on any thread.
#ifndef OCULAR_FORMATS_PPROF_H
#define OCULAR_FORMATS_PPROF_H

#include "formats/profile.h"

// An error is stored in `out`.
void Pprof_write(const struct Profile *profile, struct Bytes *out);

#endif
