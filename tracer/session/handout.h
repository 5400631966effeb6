// SPDX-License-Identifier: MIT
// Hands recordings to viewers, which make files of them at their own expense
// and with their users' rights (docs/protocol.md, HANDOUT). If the recording is
// a file, the viewer gets a descriptor of this file, otherwise a copy in
// memory. The server's thread queues the requests (requests.c), and the
// collector answers at most one request in each turn.
#pragma once

#include "tracer/session/session.h"

void Handouts_init(struct Handouts *handouts);
// Handouts_close refuses all waiting and all later requests of viewers. Must be
// called after the collector has stopped.
void Handouts_close(struct Session *session);
// Handouts_abandon must be called in a forked child. Closes the copy of the
// recording that the parent's collector was making.
void Handouts_abandon(struct Handouts *handouts);
void Handouts_release(struct Handouts *handouts);
