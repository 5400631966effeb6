// SPDX-License-Identifier: MIT
// Starts and stops a session with its threads. The code in python/ owns the
// session and calls the functions of lifetime.h.
#pragma once

#include "tracer/session/session.h"

// Starts a session with the threads that the configuration asks for. Returns 0,
// or -errno with an explanation in `why`. After an error no thread is left
// running. The caller owns the new session.
int Session_start(struct Session **session, struct Engine *engine,
                  const struct Config *config, char *why, size_t why_size);
// Ends the session's threads and builds the final snapshot. Before this call,
// the hooks must be removed, and other threads must have returned from
// functions of the session. After Session_finish, Exports_write still works.
// The caller must not hold the GIL.
void Session_finish(struct Session *session);
void Session_free(struct Session *session);
// Around a fork, Session_pause ends Ocular's threads, but keeps all data and
// all viewers. Session_resume starts Ocular's threads again and returns 0 or
// -errno. After an error, Session_resume may be called again. No thread may
// wait for a snapshot between Session_pause and Session_resume.
void Session_pause(struct Session *session);
int Session_resume(struct Session *session);
// Session_abandon releases the session's server and sampler in a forked child,
// but joins no thread. An abandoned session may be freed only if it was paused.
void Session_abandon(struct Session *session);
