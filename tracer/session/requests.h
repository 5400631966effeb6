// SPDX-License-Identifier: MIT
// The session as viewers see it, on the server's thread: new snapshots, as
// often as the budget allows, and answers to requests.
#ifndef OCULAR_TRACER_SESSION_REQUESTS_H
#define OCULAR_TRACER_SESSION_REQUESTS_H

#include "tracer/session/session.h"

// Returns the source for a server while the session runs.
struct ServerSource Requests_source(struct Session *session);

// Sends an answer to a viewer, if there is a server. `session` is a struct
// Session, so that this can be a callback. Any thread may call this.
void Session_answer(void *session, uint64_t viewer,
                    const struct Message *message);

#endif
