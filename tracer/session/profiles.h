// SPDX-License-Identifier: MIT
// Puts the run's sampled stacks into a recording, with the names and calls of
// their functions. The formats make profiles from a recording with stacks.
#pragma once

#include "tracer/session/session.h"

// Writes a head and the sampled stacks into an empty recording. Returns 0,
// -ENOTSUP if nothing is sampled, -ENOMEM, or the -errno of the recording. Any
// thread without the GIL may call this function.
int Profiles_record(struct Session *session, struct Recording *recording);
// If a profile is to be written at the end, keeps the sampled stacks. Must be
// called before the sampler stops.
void Profiles_keep(struct Session *session);
