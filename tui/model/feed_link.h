// SPDX-License-Identifier: MIT
// A FeedLink is the source of a feed's messages. The source is a process
// connected by a socket, the processes of a fleet, or a recording (of a viewer
// or of a run) that answers like a process. struct Pending contains the
// requests that are not answered yet. The feed owns both structs. No function
// blocks.
#pragma once

#include "ipc/client.h"
#include "tui/model/fleet.h"
#include "tui/model/past_run.h"
#include "tui/model/playback.h"

#include <stdbool.h>

struct FeedLink {
    // The connection to the process. NULL if the source is a fleet or a
    // recording, or if the process has ended.
    struct Client *client;
    // The processes of a service, or NULL. The fleet is kept even after all its
    // processes have ended.
    struct Fleet *fleet;
    bool hung_up; // The fleet has ended.
    // The recording of a viewer, or NULL. A recording answers requests even
    // after its last snapshot.
    struct Playback *replay;
    struct PastRun *past; // The recording of a run, or NULL.
};

// Returns the descriptor for poll(), or -1 if there is none.
int FeedLink_fd(const struct FeedLink *link);
bool FeedLink_answers(const struct FeedLink *link);
// Like Client_next, returns 1 with a message, 0 if none is due, or -errno.
int FeedLink_next(struct FeedLink *link, struct Message *message);
// Returns what Client_request returns, or -EPIPE if FeedLink_answers is false.
int FeedLink_request(struct FeedLink *link, struct Message *request);
// Closes the connection to the process. A recording still answers requests
// after that.
void FeedLink_hang_up(struct FeedLink *link);
void FeedLink_close(struct FeedLink *link);

#define PENDING_MOST 16

struct PendingRequest {
    uint32_t number; // Number of the request (0 = this entry is free).
    enum MessageType type;
    // Id of the function of a REARM request (0 = all functions).
    uint64_t about;
};

struct Pending { // A struct of zero bytes has no requests.
    struct PendingRequest items[PENDING_MOST];
};

// Stores a request that was sent. If the array is full, replaces an old
// request, which will never be answered. A request for an export is never
// replaced.
void Pending_add(struct Pending *pending, const struct Message *request);
// Forgets all requests. If `exports` is true, keeps a request for an export.
void Pending_end(struct Pending *pending, bool exports);
// Returns the request with this number, or NULL. When the request is answered,
// the caller sets the entry to zeros.
struct PendingRequest *Pending_find(struct Pending *pending, uint32_t number);
bool Pending_has(const struct Pending *pending, enum MessageType type);
// Returns true if the user will see the answer to a pending request.
bool Pending_is_awaited(const struct Pending *pending);
