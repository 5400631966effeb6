// SPDX-License-Identifier: MIT
// Serves viewers on the server's thread. Viewers get new snapshots as often as
// the budget allows, and answers to their requests.
#pragma once

#include "tracer/session/session.h"

// Returns the callbacks through which a server reads the running session.
struct ServerSource Requests_source(struct Session *session);

// Sends an answer to a viewer, if there is a server. `session` points to a
// struct Session. The parameter `session` has the type void *, so that
// Session_answer can be a callback. Any thread may call Session_answer.
void Session_answer(void *session, uint64_t viewer,
                    const struct Message *message);
