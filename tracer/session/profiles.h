// SPDX-License-Identifier: MIT
// Writes the run's sampled stacks as a file for another tool
// (formats/profile_file.h), and finds the names and calls of their functions.
#ifndef OCULAR_TRACER_SESSION_PROFILES_H
#define OCULAR_TRACER_SESSION_PROFILES_H

#include "tracer/session/session.h"

// Makes the content of a file called `path`. Returns 0, -ENOTSUP if nothing is
// sampled, -ELIBACC, or -ENOMEM. Any thread may call this function without the
// GIL.
int Profiles_make(struct Session *session, const char *path, struct Bytes *out);
// Keeps the stacks if a profile is to be written at the end. The function is
// called before the sampler stops.
void Profiles_keep(struct Session *session);

#endif
