// SPDX-License-Identifier: MIT
// What a session's exports write: its timeline, and who it is.
#ifndef OCULAR_TRACER_SESSION_EXPORTS_H
#define OCULAR_TRACER_SESSION_EXPORTS_H

#include "tracer/session/session.h"

void Exports_init(struct Session *session);

#endif
