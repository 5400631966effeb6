// SPDX-License-Identifier: MIT
// Requests the code of functions. While a view shows a function, its code is
// requested repeatedly. For a recording, the code of the hottest functions is
// requested in turn. The process keeps only one request for code for each
// viewer. A newer request replaces an older request, which gets no answer. So
// the view and the recording take turns, and the view comes first. The feed
// owns struct FeedListing.
#pragma once

#include "tui/model/capture.h"
#include "tui/model/feed_link.h"

struct FeedListing {
    uint64_t id;     // Id of the function that a view shows, or 0.
    uint32_t number; // Number of the view's pending request (0 = none).
    double asked_at; // Feed_now() at the view's newest request, or 0.
    bool shown;  // A view has called FeedListing_want since the last snapshot.
    bool behind; // A snapshot has arrived since the newest request.
    struct Listing *newest; // Owned listing that is not taken yet, or NULL.
    // Errno with the reason why the code is not available (0 = no error).
    int error;
    char why[256]; // text from the process, not trusted
    struct {
        uint64_t id; // Id of the function that is to be recorded, or 0.
        // Number of the pending request for `id` (0 = not sent yet).
        uint32_t number;
        double asked_at; // Feed_now() when the recording's request was sent.
        bool waits; // The recording waits for the answer to the view's request.
    } recorded;
};

void FeedListing_release(struct FeedListing *listing);
// Forgets pending requests, because the process has ended.
void FeedListing_end(struct FeedListing *listing);
// Says which function a view shows (0 = none), and requests its code once for
// each snapshot.
void FeedListing_want(struct FeedListing *listing, struct FeedLink *link,
                      uint64_t function, bool paused, double now);
// Takes the listing or the error from a message. Returns true if the message
// answers the view's request.
bool FeedListing_take(struct FeedListing *listing, struct Message *message);
// Called for each message that is recorded. After a snapshot, chooses the
// function whose code is requested next for the recording, unless such a
// request is under way.
void FeedListing_recorded(struct FeedListing *listing,
                          struct Capture *recording,
                          const struct Message *message, double now);
// If it is the recording's turn, requests the code of the chosen function.
void FeedListing_ask_recorded(struct FeedListing *listing,
                              struct FeedLink *link, double now);
