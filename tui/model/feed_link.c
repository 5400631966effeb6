// SPDX-License-Identifier: MIT
// See feed_link.h.
#include "tui/model/feed_link.h"

#include <errno.h>

int FeedLink_fd(const struct FeedLink *link)
{
    if (link->replay)
        return Replay_fd(link->replay);
    return link->client ? Client_fd(link->client) : -1;
}

bool FeedLink_answers(const struct FeedLink *link)
{
    return link->client || link->replay;
}

int FeedLink_next(struct FeedLink *link, struct Message *message)
{
    return link->replay ? Replay_next(link->replay, message)
                        : Client_next(link->client, message);
}

int FeedLink_request(struct FeedLink *link, struct Message *request)
{
    if (!FeedLink_answers(link))
        return -EPIPE;
    return link->replay ? Replay_request(link->replay, request)
                        : Client_request(link->client, request);
}

void FeedLink_hang_up(struct FeedLink *link)
{
    if (link->client)
        Client_close(link->client);
    link->client = NULL;
}

void FeedLink_close(struct FeedLink *link)
{
    FeedLink_hang_up(link);
    Replay_close(link->replay);
    link->replay = NULL;
}
