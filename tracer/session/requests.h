// SPDX-License-Identifier: MIT
// The session as viewers see it, on the server's thread: fresh snapshots, as
// often as the budget allows, and the requests of the wire.
#ifndef OCULAR_TRACER_SESSION_REQUESTS_H
#define OCULAR_TRACER_SESSION_REQUESTS_H

#include "tracer/session/session.h"

// The source of a server while the session runs.
struct ServerSource Requests_source(struct Session *session);

// An answer to a viewer, if anybody serves. `session` is a struct Session: a
// callback of those who answer later. Any thread.
void Session_answer(void *session, uint64_t viewer,
                    const struct Message *message);

#endif
