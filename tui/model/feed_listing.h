// SPDX-License-Identifier: MIT
// Requests the code of functions. While a view shows a function, the function's
// code is requested again and again. For a recording (--record), the code of
// each of the hottest functions is requested in turn. The process keeps only
// one request for code per viewer. A newer request replaces the older one,
// which gets no answer. The view and the recording therefore take turns, and
// the view comes first. The feed owns struct FeedListing.
#pragma once

#include "tui/model/capture.h"
#include "tui/model/feed_link.h"

struct FeedListing {
    uint64_t id;     // Id of the function whose code a view shows, or 0.
    uint32_t number; // Number of the view's pending request (0 = none).
    double asked_at; // Time (Feed_now()) of the view's newest request, or 0.
    // True if a view has called FeedListing_want since the last snapshot.
    bool shown;
    bool behind; // True if a snapshot has arrived since the newest request.
    // Owned listing that the view has not taken yet, or NULL.
    struct Listing *newest;
    // The error because of which there is no code (0 = no error).
    int error;
    char why[256]; // Text from the process, not trusted.
    struct {
        uint64_t id; // Id of the function whose code is to be recorded, or 0.
        // Number of the pending request for `id` (0 = not sent yet).
        uint32_t number;
        double asked_at; // Time (Feed_now()) at which this request was sent.
        // True while the recording waits for the answer to the view's request.
        bool waits;
    } recorded;
};

void FeedListing_release(struct FeedListing *listing);
// Forgets pending requests, because the process has ended.
void FeedListing_end(struct FeedListing *listing);
// Says which function a view shows (0 = none), and requests its code once for
// each snapshot.
void FeedListing_want(struct FeedListing *listing, struct FeedLink *link,
                      uint64_t function, bool paused, double now);
// Takes a listing or an error from a message. Returns true if the message
// answers the view's request.
bool FeedListing_take(struct FeedListing *listing, struct Message *message);
// Must be called for each message that is recorded. After a snapshot, chooses
// the function whose code is to be recorded next, unless a request for the
// recording is pending.
void FeedListing_recorded(struct FeedListing *listing,
                          struct Capture *recording,
                          const struct Message *message, double now);
// Requests the code of the chosen function, if it is the turn of the recording.
void FeedListing_ask_recorded(struct FeedListing *listing,
                              struct FeedLink *link, double now);
