// SPDX-License-Identifier: MIT
// The code of one function, asked for again and again while a view shows it,
// and that of the hottest functions for a recording, in turn. A process keeps
// one such request of a viewer: a newer one takes its place, and the older one
// gets no answer. So the view and the recording take turns, the view first.
// Owned by the feed. One thread.
#ifndef OCULAR_TUI_MODEL_FEED_LISTING_H
#define OCULAR_TUI_MODEL_FEED_LISTING_H

#include "tui/model/feed_link.h"
#include "tui/model/recording.h"

struct FeedListing {
    uint64_t id;            // of the function that a view shows; 0: none
    uint32_t number;        // of the view's request under way; 0: none
    double asked_at;        // Feed_now() of the view's newest request; 0: none
    bool shown;             // a view has wanted it since the last snapshot
    bool behind;            // a snapshot has come since the newest request
    struct Listing *newest; // not yet taken; owned
    int error;              // why there is none, as errno; 0: nothing is wrong
    char why[256];          // the process's words, not trusted
    struct {
        uint64_t id;     // of the function for the recording; 0: none
        uint32_t number; // of its request under way; 0: not asked yet
        double asked_at; // Feed_now() of that request
        bool waits;      // for the answer to the view's request
    } recorded;
};

void FeedListing_release(struct FeedListing *listing);
// The process has ended: nothing is under way any more.
void FeedListing_end(struct FeedListing *listing);
// Says which function a view shows (0: none any more), and asks for its code,
// once a snapshot.
void FeedListing_want(struct FeedListing *listing, struct FeedLink *link,
                      uint64_t function, bool paused, double now);
// Takes the listing, or the error, out of a message. True when it answers the
// view's request.
bool FeedListing_take(struct FeedListing *listing, struct Message *message);
// A message has come, and is in the recording. Chooses the next function for
// the recording if it is time.
void FeedListing_recorded(struct FeedListing *listing,
                          struct Recording *recording,
                          const struct Message *message, double now);
// Asks for the code of the function chosen, if it is the recording's turn.
void FeedListing_ask_recorded(struct FeedListing *listing,
                              struct FeedLink *link, double now);

#endif
