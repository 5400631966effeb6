// SPDX-License-Identifier: MIT
// Keeps the viewers' requests for functions' code. Also keeps the operand text
// that the governor has read, and the time of the next listing. If no viewer
// asks, no listing is made and the memory is freed. The server's thread asks,
// the collector answers, and the governor delivers operand text. The mutex is
// held for a few instructions only.
#ifndef OCULAR_TRACER_SESSION_LISTING_WISHES_H
#define OCULAR_TRACER_SESSION_LISTING_WISHES_H

#include "ipc/wire.h"
#include "tracer/base/waker.h"
#include "tracer/session/operand_text.h"

#include <pthread.h>
#include <stdbool.h>

#define LISTING_WISHES 128  // largest number of requests, one per viewer
#define LISTING_ENTRIES 128 // largest number of functions, one per viewer

struct ListingWish {
    uint64_t viewer;
    uint32_t request;
    uint32_t id; // id of the function
    uint64_t asked_ns;
};

// A function that viewers show. Only the collector uses this struct.
struct ListingEntry {
    uint32_t id; // id of the function; 0 if the entry is free
    struct OperandText *text;
    bool asked;        // true if the governor was asked for the text
    uint64_t built_ns; // time of the newest listing; 0 if there is none
    // Time at which a viewer last asked for the function.
    uint64_t used_ns;
};

// Makes listings and sends them to viewers. The collector's thread calls these
// functions. Any thread may call `answer`, and the server's thread and the
// governor call `wake`.
struct ListingWishesSource {
    void *context;
    // Returns 0 and the listing, -ENOENT if the function no longer exists, or
    // -ENOMEM. `text` may be NULL.
    int (*make)(void *context, uint32_t id, const struct OperandText *text,
                struct Listing **listing);
    // Sends a message to a viewer. The viewer may have left.
    void (*answer)(void *context, uint64_t viewer,
                   const struct Message *message);
    // Returns true if the budget is overdrawn.
    bool (*is_overdrawn)(void *context);
    void (*wake)(void *context); // wakes the collector
    struct Waker *governor;      // wakes the governor to read operand text
};

struct ListingWishes {
    struct ListingWishesSource source;
    pthread_mutex_t mutex; // guards the members up to `entries`
    bool closed;
    // Until this time requests do not wake the collector. At this time the
    // collector wakes by itself.
    uint64_t quiet_ns;
    unsigned wish_count;
    // Sorted with the oldest request first.
    struct ListingWish queue[LISTING_WISHES];
    unsigned wanted_count;
    uint32_t wanted[LISTING_ENTRIES]; // ids whose text the governor must read
    struct OperandText *ready;        // text that the governor has delivered
    struct ListingEntry entries[LISTING_ENTRIES];
    uint64_t next_ns; // time at which the next listing may be made
};

void ListingWishes_init(struct ListingWishes *wishes,
                        const struct ListingWishesSource *source);
void ListingWishes_release(struct ListingWishes *wishes);

// Queues a viewer's request for a function's listing. The request replaces the
// viewer's earlier request. Wakes the collector, unless the collector was woken
// a short time ago. Returns 0, -ESHUTDOWN, or -EBUSY. The server's thread calls
// this function.
int ListingWishes_ask(struct ListingWishes *wishes, uint64_t viewer,
                      uint32_t request, uint32_t id);

// ListingWishes_next_text returns the id of the next function whose operand
// text is wanted, or 0. ListingWishes_deliver takes ownership of the text. The
// governor calls both functions.
uint32_t ListingWishes_next_text(struct ListingWishes *wishes);
void ListingWishes_deliver(struct ListingWishes *wishes,
                           struct OperandText *text);

// Makes the listings that are due and answers the viewers. The collector's
// thread calls this function, outside of a read section.
void ListingWishes_serve(struct ListingWishes *wishes);
// Returns the milliseconds until ListingWishes_serve has work, at most `most`.
unsigned ListingWishes_pause_ms(struct ListingWishes *wishes, unsigned most);
// Returns the number of bytes of memory in use.
size_t ListingWishes_bytes(struct ListingWishes *wishes);
// Refuses all queued and all later requests.
void ListingWishes_close(struct ListingWishes *wishes);

#endif
