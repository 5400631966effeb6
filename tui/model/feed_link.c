// SPDX-License-Identifier: MIT
#include "tui/model/feed_link.h"

#include <errno.h>

int FeedLink_fd(const struct FeedLink *link)
{
    if (link->past)
        return PastRun_fd(link->past);
    if (link->replay)
        return Playback_fd(link->replay);
    if (link->fleet)
        return link->hung_up ? -1 : Fleet_fd(link->fleet);
    return link->client ? Client_fd(link->client) : -1;
}

bool FeedLink_answers(const struct FeedLink *link)
{
    return link->client || (link->fleet && !link->hung_up) || link->replay ||
           link->past;
}

int FeedLink_next(struct FeedLink *link, struct Message *message)
{
    if (link->past)
        return PastRun_next(link->past, message);
    if (link->fleet)
        return Fleet_next(link->fleet, message);
    return link->replay ? Playback_next(link->replay, message)
                        : Client_next(link->client, message);
}

int FeedLink_request(struct FeedLink *link, struct Message *request)
{
    if (!FeedLink_answers(link))
        return -EPIPE;
    if (link->past)
        return PastRun_request(link->past, request);
    if (link->fleet)
        return Fleet_request(link->fleet, request);
    return link->replay ? Playback_request(link->replay, request)
                        : Client_request(link->client, request);
}

void FeedLink_hang_up(struct FeedLink *link)
{
    if (link->client)
        Client_close(link->client);
    link->client = NULL;
    link->hung_up = true;
}

void FeedLink_close(struct FeedLink *link)
{
    FeedLink_hang_up(link);
    Fleet_close(link->fleet);
    link->fleet = NULL;
    Playback_close(link->replay);
    link->replay = NULL;
    PastRun_close(link->past);
    link->past = NULL;
}

// --- Requests without an answer

void Pending_add(struct Pending *pending, const struct Message *request)
{
    struct PendingRequest *place = &pending->items[0];
    // If there is no free entry, replaces an entry that is not for an export.
    // At most one entry is for an export.
    if (place->type == MESSAGE_HANDOUT)
        place++;
    for (int i = 0; i < PENDING_MOST; i++)
        if (!pending->items[i].number) {
            place = &pending->items[i];
            break;
        }
    *place = (struct PendingRequest){.number = request->request,
                                     .type = request->type,
                                     .about = request->number};
}

void Pending_end(struct Pending *pending, bool exports)
{
    for (int i = 0; i < PENDING_MOST; i++)
        if (!exports || pending->items[i].type != MESSAGE_HANDOUT)
            pending->items[i] = (struct PendingRequest){0};
}

struct PendingRequest *Pending_find(struct Pending *pending, uint32_t number)
{
    for (int i = 0; number && i < PENDING_MOST; i++)
        if (pending->items[i].number == number)
            return &pending->items[i];
    return NULL;
}

bool Pending_has(const struct Pending *pending, enum MessageType type)
{
    for (int i = 0; i < PENDING_MOST; i++)
        if (pending->items[i].number && pending->items[i].type == type)
            return true;
    return false;
}

bool Pending_is_awaited(const struct Pending *pending)
{
    for (int i = 0; i < PENDING_MOST; i++)
        if (pending->items[i].number && pending->items[i].type != MESSAGE_RATE)
            return true;
    return false;
}
