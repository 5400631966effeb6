// SPDX-License-Identifier: MIT
// The overhead of a session, by its clocks and counters: hooks, threads,
// samples. The account reads it (tracer/budget/account.h).
#ifndef OCULAR_TRACER_SESSION_COSTS_H
#define OCULAR_TRACER_SESSION_COSTS_H

#include "tracer/session/session.h"

// The session's account begins; its budget is set.
void Costs_init(struct Session *session);

#endif
