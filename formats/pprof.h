// SPDX-License-Identifier: MIT
// pprof's protobuf. profile_file.c calls it; any thread.
#ifndef OCULAR_FORMATS_PPROF_H
#define OCULAR_FORMATS_PPROF_H

#include "formats/profile.h"

// Errors stick to `out`.
void Pprof_write(const struct Profile *profile, struct Bytes *out);

#endif
