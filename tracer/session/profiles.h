// SPDX-License-Identifier: MIT
// Puts the run's sampled stacks into a recording, with the names and calls of
// their functions. The formats make profiles of such a recording.
#ifndef OCULAR_TRACER_SESSION_PROFILES_H
#define OCULAR_TRACER_SESSION_PROFILES_H

#include "tracer/session/session.h"

// Writes the head and the stacks to an empty recording. Returns 0, -ENOTSUP if
// nothing is sampled, -ENOMEM, or -errno of the recording. Any thread may call
// this function without the GIL.
int Profiles_record(struct Session *session, struct Recording *recording);
// Keeps the stacks if a profile is to be written at the end. The function is
// called before the sampler stops.
void Profiles_keep(struct Session *session);

#endif
