// SPDX-License-Identifier: MIT
#include "tui/model/feed_listing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A request for code is sent again if the process has not answered within
// LATE_S seconds.
#define LATE_S 5.0

void FeedListing_release(struct FeedListing *listing)
{
    Listing_free(listing->newest);
    listing->newest = NULL;
}

void FeedListing_end(struct FeedListing *listing)
{
    listing->number = 0;
    memset(&listing->recorded, 0, sizeof listing->recorded);
}

// Returns true if the same request would get the same error again.
static bool is_refused(const struct FeedListing *listing)
{
    return listing->error == ENOENT || listing->error == EOPNOTSUPP;
}

// Returns true if a request is pending and is not older than LATE_S seconds. A
// request that is older than LATE_S seconds may never get an answer.
static bool is_under_way(uint32_t number, double asked_at, double now)
{
    return number && now - asked_at < LATE_S;
}

// --- Requests of the view

static bool is_due(const struct FeedListing *listing,
                   const struct FeedLink *link, bool paused, double now)
{
    if (!listing->id || !FeedLink_answers(link))
        return false;
    if (!listing->asked_at)
        return true;
    if (listing->number)
        return !is_under_way(listing->number, listing->asked_at, now);
    return listing->behind && !paused && !is_refused(listing) &&
           !is_under_way(listing->recorded.number, listing->recorded.asked_at,
                         now);
}

void FeedListing_want(struct FeedListing *listing, struct FeedLink *link,
                      uint64_t function, bool paused, double now)
{
    struct Message message = {.type = MESSAGE_DETAIL, .number = function};
    if (listing->id != function) {
        Listing_free(listing->newest);
        *listing =
            (struct FeedListing){.id = function, .recorded = listing->recorded};
    }
    listing->shown = function != 0;
    if (!is_due(listing, link, paused, now) || FeedLink_request(link, &message))
        return;
    listing->number = message.request;
    listing->asked_at = now;
    listing->behind = false;
    // The process drops the recording's request when it gets the view's
    // request.
    listing->recorded.number = 0;
    listing->recorded.waits = true;
}

bool FeedListing_take(struct FeedListing *listing, struct Message *message)
{
    if (!listing->number || message->request != listing->number)
        return false;
    listing->number = 0;
    listing->error = 0;
    listing->recorded.waits = false;
    if (message->type == MESSAGE_LISTING && message->listing) {
        Listing_free(listing->newest);
        listing->newest = message->listing;
        message->listing = NULL;
        return true;
    }
    listing->error = message->number ? (int)message->number : EIO;
    snprintf(listing->why, sizeof listing->why, "%s",
             message->text ? message->text : strerror(listing->error));
    return true;
}

// --- Requests of the recording

void FeedListing_recorded(struct FeedListing *listing,
                          struct Capture *recording,
                          const struct Message *message, double now)
{
    if (listing->recorded.number &&
        message->request == listing->recorded.number)
        memset(&listing->recorded, 0, sizeof listing->recorded);
    if (message->type != MESSAGE_SNAPSHOT || !message->snapshot ||
        recording->error)
        return;
    bool free = !listing->recorded.id || listing->recorded.number;
    if (free && !is_under_way(listing->recorded.number,
                              listing->recorded.asked_at, now)) {
        memset(&listing->recorded, 0, sizeof listing->recorded);
        listing->recorded.id =
            Capture_request(recording, message->snapshot, now);
    }
    listing->recorded.waits = listing->shown && !is_refused(listing);
    listing->shown = false;
}

void FeedListing_ask_recorded(struct FeedListing *listing,
                              struct FeedLink *link, double now)
{
    struct Message ask = {.type = MESSAGE_DETAIL,
                          .number = listing->recorded.id};
    if (!link->client || !listing->recorded.id || listing->recorded.number ||
        listing->recorded.waits ||
        is_under_way(listing->number, listing->asked_at, now) ||
        Client_request(link->client, &ask))
        return;
    listing->recorded.number = ask.request;
    listing->recorded.asked_at = now;
}
