// SPDX-License-Identifier: MIT
// Writes the sampled stacks of the whole run into a recording, with the names
// and calls of their functions. The code in formats/ makes profiles from
// recordings with stacks.
#pragma once

#include "tracer/session/session.h"

// Writes the head and the sampled stacks of a recording, which is empty before.
// Returns 0, -ENOTSUP if nothing is sampled, -ENOMEM, or the -errno of the
// recording. Any thread without the GIL may call Profiles_record.
int Profiles_record(struct Session *session, struct Recording *recording);
// Keeps the sampled stacks if a profile must be written at the end.
// Profiles_keep must be called before the sampler stops.
void Profiles_keep(struct Session *session);
