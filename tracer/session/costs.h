// SPDX-License-Identifier: MIT
// The overhead of a session by its clocks and counters: hooks, threads and
// samples. The account reads the overhead from here (tracer/budget/account.h).
#ifndef OCULAR_TRACER_SESSION_COSTS_H
#define OCULAR_TRACER_SESSION_COSTS_H

#include "tracer/session/session.h"

// Starts the session's account. The budget is set before.
void Costs_init(struct Session *session);

#endif
