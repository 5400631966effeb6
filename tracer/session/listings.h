// SPDX-License-Identifier: MIT
// Makes the listings that a session's viewers ask for, from existing code
// objects and their counters.
#pragma once

#include "tracer/session/session.h"

// Prepares the session for viewers' requests for listings.
void Listings_init(struct Session *session);
