// SPDX-License-Identifier: MIT
// Reads from clocks and counters the overhead of a session (hooks, threads and
// samples), and passes it to the account (tracer/budget/account.h).
#pragma once

#include "tracer/session/session.h"

// Starts the session's account of its overhead. The budget must be set before
// the call.
void Costs_init(struct Session *session);
