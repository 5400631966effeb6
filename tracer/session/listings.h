// SPDX-License-Identifier: MIT
// Makes the listings that a session's viewers ask for, from living code and its
// counters.
#ifndef OCULAR_TRACER_SESSION_LISTINGS_H
#define OCULAR_TRACER_SESSION_LISTINGS_H

#include "tracer/session/session.h"

// Allows viewers to ask for listings.
void Listings_init(struct Session *session);

#endif
