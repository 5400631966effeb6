// SPDX-License-Identifier: MIT
// Viewers of functions' code: the function that each has asked for, the text of
// its operands as soon as the governor has read it, and the time of the next
// listing. While no viewer asks, nothing is made, and the memory is freed. A
// mutex, held for a few instructions; the server's thread asks, the collector
// answers, the governor delivers operand text.
#ifndef OCULAR_TRACER_SESSION_DETAILS_H
#define OCULAR_TRACER_SESSION_DETAILS_H

#include "ipc/wire.h"
#include "tracer/session/operand_text.h"

#include <pthread.h>
#include <stdbool.h>

#define DETAILS_WISHES 128 // viewers, each has one at most
#define DETAILS_KEPT 128   // functions that viewers show, one for each at most

struct DetailWish {
    uint64_t viewer;
    uint32_t request;
    uint32_t id; // of the function
    uint64_t asked_ns;
};

struct DetailEntry { // a function that viewers show; the collector's
    uint32_t id;     // 0 = free
    struct OperandText *text;
    bool asked;        // for the text
    uint64_t built_ns; // 0 = never
    uint64_t used_ns;
};

// The source of listings, and their way to viewers. The collector's thread, but
// for `wake`, and for `answer`, which any thread may call.
struct DetailsSource {
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
};

struct Details {
    struct DetailsSource source;
    pthread_mutex_t mutex; // guards all up to `entries`
    bool closed;
    uint64_t quiet_ns; // until then the collector is not woken: it looks then
    unsigned wish_count;
    struct DetailWish wishes[DETAILS_WISHES]; // oldest first
    unsigned wanted_count;
    uint32_t wanted[DETAILS_KEPT]; // whose text the governor is to deliver
    struct OperandText *ready;     // delivered
    void (*wake)(void *context);   // tells the governor; NULL: there is none
    void *wake_context;
    struct DetailEntry entries[DETAILS_KEPT];
    uint64_t next_ns; // when the next listing may be made
};

void Details_init(struct Details *details, const struct DetailsSource *source);
void Details_release(struct Details *details);
// Sets the callback for wanted operand text; it must not block. NULL: none.
void Details_set_wake(struct Details *details, void (*wake)(void *context),
                      void *context);

// Calls the same callback, the governor's, when functions are to be armed
// again. Any thread.
void Details_wake(struct Details *details);

// A viewer wants a function's listing; its earlier request, if not answered, is
// forgotten. Wakes the collector, not too often. 0, -ESHUTDOWN, -EBUSY. The
// server's thread.
int Details_ask(struct Details *details, uint64_t viewer, uint32_t request,
                uint32_t id);

// The governor: the next function whose operand text is wanted, 0 = none;
// and the text, which is the callee's from then on.
uint32_t Details_next_text(struct Details *details);
void Details_deliver(struct Details *details, struct OperandText *text);

// The collector: makes the listings that are due, and answers. Not in a read
// section.
void Details_serve(struct Details *details);
// Milliseconds until Details_serve has something to do, `most` if that is less.
unsigned Details_pause_ms(struct Details *details, unsigned most);
// Bytes held, for memory accounts.
size_t Details_bytes(struct Details *details);
// Everybody who still waits is refused, as is who asks later.
void Details_close(struct Details *details);

#endif
