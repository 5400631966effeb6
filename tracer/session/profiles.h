// SPDX-License-Identifier: MIT
// The run's sampled stacks as a file of another tool (tracer/timeline/
// profile_file.h): finds the names and calls of the functions in them.
#ifndef OCULAR_TRACER_SESSION_PROFILES_H
#define OCULAR_TRACER_SESSION_PROFILES_H

#include "tracer/session/session.h"

// The file of that name: 0, -ENOTSUP: nothing is sampled, or -ENOMEM. Any
// thread, without the interpreter's lock.
int Profiles_make(struct Session *session, const char *path, struct Bytes *out);
// Called when the sampler is about to go. If a profile is to be written at the
// end, its stacks stay.
void Profiles_keep(struct Session *session);

#endif
