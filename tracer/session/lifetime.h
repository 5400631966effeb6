// SPDX-License-Identifier: MIT
// A session from start to stop, with its threads and their parameters. Called
// by python/, which owns the session.
#ifndef OCULAR_TRACER_SESSION_LIFETIME_H
#define OCULAR_TRACER_SESSION_LIFETIME_H

#include "tracer/session/session.h"

// Starts the threads that the configuration asks for. 0 or -errno with `why`;
// nothing is left running after an error. *session is the caller's.
int Session_start(struct Session **session, struct Engine *engine,
                  const struct Config *config, char *why, size_t why_size);
// Ends the threads, viewers' exports included, and builds the final snapshot.
// The hooks are out by now, and other threads' calls are over. Export_write
// remains possible. Not with the interpreter's lock.
void Session_finish(struct Session *session);
void Session_free(struct Session *session);
// For a fork: all threads end, all else stays, viewers included; and go on (0
// or -errno; it may be tried again). No export runs in the background and
// nobody waits for a snapshot.
void Session_pause(struct Session *session);
int Session_resume(struct Session *session);
// After fork, in the child: drops the server and the sampler, joins nothing.
// Only if it had been paused it may be freed then.
void Session_abandon(struct Session *session);

#endif
