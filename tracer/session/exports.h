// SPDX-License-Identifier: MIT
// Gives a session's exports their input: the session's timeline and the
// description of the process.
#ifndef OCULAR_TRACER_SESSION_EXPORTS_H
#define OCULAR_TRACER_SESSION_EXPORTS_H

#include "tracer/session/session.h"

void Exports_init(struct Session *session);

#endif
