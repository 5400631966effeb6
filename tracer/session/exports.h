// SPDX-License-Identifier: MIT
// The input of a session's exports: its timeline, and its process.
#ifndef OCULAR_TRACER_SESSION_EXPORTS_H
#define OCULAR_TRACER_SESSION_EXPORTS_H

#include "tracer/session/session.h"

void Exports_init(struct Session *session);

#endif
