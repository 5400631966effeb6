// SPDX-License-Identifier: MIT
// The source of a feed: a process connected by a socket, or a recording (of a
// viewer or of a run) that answers like a process. Also stores the user's
// requests that are not answered yet. Owned by the feed. One thread; no
// function blocks.
#ifndef OCULAR_TUI_MODEL_FEED_LINK_H
#define OCULAR_TUI_MODEL_FEED_LINK_H

#include "ipc/client.h"
#include "tui/model/past_run.h"
#include "tui/model/playback.h"

#include <stdbool.h>

struct FeedLink {
    // connection; NULL: this is a replay, or the process has ended
    struct Client *client;
    // the replay, which still answers after its end; NULL: a live process
    struct Playback *replay;
    struct PastRun *past; // the same, for the recording of a run
};

// Returns the descriptor for poll(), or -1 if there is none.
int FeedLink_fd(const struct FeedLink *link);
bool FeedLink_answers(const struct FeedLink *link);
// Returns the same as Client_next.
int FeedLink_next(struct FeedLink *link, struct Message *message);
// Returns the same as Client_request, or -EPIPE if the link does not answer any
// more.
int FeedLink_request(struct FeedLink *link, struct Message *request);
// Closes the connection to the process. A recording continues to answer.
void FeedLink_hang_up(struct FeedLink *link);
void FeedLink_close(struct FeedLink *link);

#define PENDING_MOST 16

struct PendingRequest {
    uint32_t number; // number of the request; 0: this entry is free
    enum MessageType type;
    uint64_t about; // REARM: id of the function; 0: all functions
};

struct Pending { // a zeroed struct has no requests
    struct PendingRequest items[PENDING_MOST];
};

// Stores a request that was sent. If the array is full it replaces an old
// request, which will not be answered any more, but never an export.
void Pending_add(struct Pending *pending, const struct Message *request);
// Returns the request of that number, or NULL. The caller zeroes it when it is
// done.
struct PendingRequest *Pending_find(struct Pending *pending, uint32_t number);
bool Pending_has(const struct Pending *pending, enum MessageType type);
// Returns true if an answer is pending that the user will see.
bool Pending_is_awaited(const struct Pending *pending);

#endif
