// SPDX-License-Identifier: MIT
// Viewers of functions' code: the function that each has asked for, the text of
// its operands as soon as the governor has read it, and the time of the next
// listing. While no viewer asks, nothing is made, and the memory is freed. A
// mutex, held for a few instructions; the server's thread asks, the collector
// answers, the governor delivers operand text.
#ifndef OCULAR_TRACER_SESSION_LISTING_WISHES_H
#define OCULAR_TRACER_SESSION_LISTING_WISHES_H

#include "ipc/wire.h"
#include "tracer/base/waker.h"
#include "tracer/session/operand_text.h"

#include <pthread.h>
#include <stdbool.h>

#define LISTING_WISHES 128  // viewers, each has one at most
#define LISTING_ENTRIES 128 // functions that viewers show, one for each at most

struct ListingWish {
    uint64_t viewer;
    uint32_t request;
    uint32_t id; // of the function
    uint64_t asked_ns;
};

struct ListingEntry { // a function that viewers show; the collector's
    uint32_t id;      // 0 = free
    struct OperandText *text;
    bool asked;        // for the text
    uint64_t built_ns; // 0 = never
    uint64_t used_ns;
};

// The source of listings, and their way to viewers. The collector's thread, but
// for `wake`, and for `answer`, which any thread may call.
struct ListingWishesSource {
    void *context;
    // 0 and the listing; -ENOENT: the function has gone, or -ENOMEM. `text`
    // may be NULL.
    int (*make)(void *context, uint32_t id, const struct OperandText *text,
                struct Listing **listing);
    // To a viewer, who may be gone.
    void (*answer)(void *context, uint64_t viewer,
                   const struct Message *message);
    bool (*is_overdrawn)(void *context); // the budget
    void (*wake)(void *context);         // the collector
    struct Waker *governor;              // is to read operand text
};

struct ListingWishes {
    struct ListingWishesSource source;
    pthread_mutex_t mutex; // guards all up to `entries`
    bool closed;
    uint64_t quiet_ns; // until then the collector is not woken: it looks then
    unsigned wish_count;
    struct ListingWish queue[LISTING_WISHES]; // oldest first
    unsigned wanted_count;
    uint32_t wanted[LISTING_ENTRIES]; // whose text the governor is to deliver
    struct OperandText *ready;        // delivered
    struct ListingEntry entries[LISTING_ENTRIES];
    uint64_t next_ns; // when the next listing may be made
};

void ListingWishes_init(struct ListingWishes *wishes,
                        const struct ListingWishesSource *source);
void ListingWishes_release(struct ListingWishes *wishes);

// A viewer wants a function's listing; its earlier request, if not answered, is
// forgotten. Wakes the collector, not too often. 0, -ESHUTDOWN, -EBUSY. The
// server's thread.
int ListingWishes_ask(struct ListingWishes *wishes, uint64_t viewer,
                      uint32_t request, uint32_t id);

// The governor: the next function whose operand text is wanted, 0 = none;
// and the text, which is the callee's from then on.
uint32_t ListingWishes_next_text(struct ListingWishes *wishes);
void ListingWishes_deliver(struct ListingWishes *wishes,
                           struct OperandText *text);

// The collector: makes the listings that are due, and answers. Not in a read
// section.
void ListingWishes_serve(struct ListingWishes *wishes);
// Milliseconds until ListingWishes_serve has something to do, `most` if that is
// less.
unsigned ListingWishes_pause_ms(struct ListingWishes *wishes, unsigned most);
// Bytes held, for memory accounts.
size_t ListingWishes_bytes(struct ListingWishes *wishes);
// Everybody who still waits is refused, as is who asks later.
void ListingWishes_close(struct ListingWishes *wishes);

#endif
