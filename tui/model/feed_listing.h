// SPDX-License-Identifier: MIT
// Requests the code of one function repeatedly while a view shows it, and the
// code of the hottest functions, one after another, for a recording. The
// process keeps one such request for each viewer: a newer one replaces an older
// one, which then gets no answer. So the view and the recording take turns, the
// view first. Owned by the feed. One thread.
#ifndef OCULAR_TUI_MODEL_FEED_LISTING_H
#define OCULAR_TUI_MODEL_FEED_LISTING_H

#include "tui/model/capture.h"
#include "tui/model/feed_link.h"

struct FeedListing {
    uint64_t id;     // id of the function that a view shows; 0: none
    uint32_t number; // number of the view's pending request; 0: none
    double asked_at; // Feed_now() at the view's newest request; 0: none
    bool shown;  // a view has called FeedListing_want since the last snapshot
    bool behind; // a snapshot has arrived since the newest request
    struct Listing *newest; // not taken yet; owned; NULL: none
    int error;     // why the code is not available, as errno; 0: no error
    char why[256]; // the process's words, not trusted
    struct {
        uint64_t id;     // id of the function that is to be recorded; 0: none
        uint32_t number; // number of its pending request; 0: not sent yet
        double asked_at; // Feed_now() when this request was sent
        bool waits; // the recording waits for the answer to the view's request
    } recorded;
};

void FeedListing_release(struct FeedListing *listing);
// Forgets pending requests, because the process has ended.
void FeedListing_end(struct FeedListing *listing);
// Says which function a view shows (0: none), and asks for its code once a
// snapshot.
void FeedListing_want(struct FeedListing *listing, struct FeedLink *link,
                      uint64_t function, bool paused, double now);
// Takes the listing or the error from a message. Returns true if the message
// answers the view's request.
bool FeedListing_take(struct FeedListing *listing, struct Message *message);
// The caller has recorded the message. Chooses the next function for the
// recording if it is time.
void FeedListing_recorded(struct FeedListing *listing,
                          struct Capture *recording,
                          const struct Message *message, double now);
// Requests the code of the chosen function if it is the recording's turn.
void FeedListing_ask_recorded(struct FeedListing *listing,
                              struct FeedLink *link, double now);

#endif
