// SPDX-License-Identifier: MIT
// The user's requests that the process has not answered yet. Owned by the feed.
// One thread.
#ifndef OCULAR_TUI_MODEL_PENDING_H
#define OCULAR_TUI_MODEL_PENDING_H

#include "ipc/wire.h"

#include <stdbool.h>

#define PENDING_MOST 16

struct PendingRequest {
    uint32_t number; // of the request; 0: this place is free
    enum MessageType type;
    uint64_t about; // REARM: id of the function, 0: all
};

struct Pending { // zeroed: none
    struct PendingRequest items[PENDING_MOST];
};

// Remembers a request that was sent. Where all places are taken an old request
// makes room: nobody will answer it any more. An export never does.
void Pending_add(struct Pending *pending, const struct Message *request);
// The request of that number, NULL if there is none; zero it when it is done.
struct PendingRequest *Pending_find(struct Pending *pending, uint32_t number);
bool Pending_has(const struct Pending *pending, enum MessageType type);
// Is there a request whose answer somebody sees?
bool Pending_is_awaited(const struct Pending *pending);

#endif
