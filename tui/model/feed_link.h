// SPDX-License-Identifier: MIT
// The other end of a feed: a process over its socket, or a recording that
// answers like one; and the user's requests that it has not answered yet. Owned
// by the feed. One thread; nothing blocks.
#ifndef OCULAR_TUI_MODEL_FEED_LINK_H
#define OCULAR_TUI_MODEL_FEED_LINK_H

#include "ipc/client.h"
#include "tui/model/playback.h"

#include <stdbool.h>

struct FeedLink {
    struct Client *client;   // NULL: a recording, or the process has ended
    struct Playback *replay; // NULL: a process; answers even after its end
};

int FeedLink_fd(const struct FeedLink *link); // to poll, or -1
bool FeedLink_answers(const struct FeedLink *link);
// As Client_next.
int FeedLink_next(struct FeedLink *link, struct Message *message);
// As Client_request; -EPIPE: nobody answers any more.
int FeedLink_request(struct FeedLink *link, struct Message *request);
// Closes the connection to the process; a recording goes on to answer.
void FeedLink_hang_up(struct FeedLink *link);
void FeedLink_close(struct FeedLink *link);

#define PENDING_MOST 16

struct PendingRequest {
    uint32_t number; // of the request; 0: this place is free
    enum MessageType type;
    uint64_t about; // REARM: id of the function, 0: all
};

struct Pending { // zeroed: none
    struct PendingRequest items[PENDING_MOST];
};

// Remembers a request that was sent. If all places are taken an old request
// makes room: nobody will answer it any more. An export never does.
void Pending_add(struct Pending *pending, const struct Message *request);
// The request of that number, NULL if there is none; zero it when it is done.
struct PendingRequest *Pending_find(struct Pending *pending, uint32_t number);
bool Pending_has(const struct Pending *pending, enum MessageType type);
// Is there a request whose answer somebody sees?
bool Pending_is_awaited(const struct Pending *pending);

#endif
