// SPDX-License-Identifier: MIT
// Who a feed talks to: a process over its socket, or a recording that answers
// like one. Owned by the feed. One thread; nothing blocks.
#ifndef OCULAR_TUI_MODEL_FEED_LINK_H
#define OCULAR_TUI_MODEL_FEED_LINK_H

#include "ipc/client.h"
#include "tui/model/replay.h"

#include <stdbool.h>

struct FeedLink {
    struct Client *client; // NULL: a recording, or the process has ended
    struct Replay *replay; // NULL: a process; answers even after its end
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

#endif
