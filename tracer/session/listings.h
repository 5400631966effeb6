// SPDX-License-Identifier: MIT
// Makes the listings that a session's viewers ask for, from existing code
// objects and their counters.
#ifndef OCULAR_TRACER_SESSION_LISTINGS_H
#define OCULAR_TRACER_SESSION_LISTINGS_H

#include "tracer/session/session.h"

// Prepares the session for viewers' requests for listings.
void Listings_init(struct Session *session);

#endif
