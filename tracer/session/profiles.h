// SPDX-License-Identifier: MIT
// Writes the run's sampled stacks as a file for another tool
// (formats/profile_file.h), and finds the names and calls of their functions.
#ifndef OCULAR_TRACER_SESSION_PROFILES_H
#define OCULAR_TRACER_SESSION_PROFILES_H

#include "tracer/session/session.h"

// Makes the content of a file of that name. Returns 0, -ENOTSUP if nothing is
// sampled, -ELIBACC, or -ENOMEM. Any thread may call this, without the GIL.
int Profiles_make(struct Session *session, const char *path, struct Bytes *out);
// Keeps the stacks when the sampler is about to stop, if a profile is to be
// written at the end.
void Profiles_keep(struct Session *session);

#endif
