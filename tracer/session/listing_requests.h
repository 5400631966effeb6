// SPDX-License-Identifier: MIT
// struct ListingRequests has the viewers' requests for functions' listings, the
// operand text that the governor has read, and the time of the next listing. No
// listing is made and the memory is freed if no viewer asks for listings. The
// server's thread adds requests, the collector answers them, and the governor
// delivers operand text. A thread holds ListingRequests.mutex for a few
// instructions only.
#pragma once

#include "ipc/wire.h"
#include "tracer/base/waker.h"
#include "tracer/session/operand_text.h"

#include <pthread.h>
#include <stdbool.h>

// Largest number of waiting requests. A viewer has at most one request at a
// time.
#define LISTING_REQUESTS 128
// The code of at most this number of functions is shown in viewers. Each viewer
// shows the code of at most one function.
#define LISTING_ENTRIES 128

struct ListingRequest {
    uint64_t viewer;
    uint32_t number;
    uint32_t id; // Id of the function.
    uint64_t asked_ns;
};

// A function whose code viewers show. Only the collector's thread uses this
// struct.
struct ListingEntry {
    uint32_t id; // Id of the function, or 0 if the entry is free.
    struct OperandText *text;
    // True if the governor was asked for the operand text of the function.
    bool asked;
    // CLOCK_MONOTONIC in ns at which the newest listing of the function was
    // made, or 0 if there is none.
    uint64_t built_ns;
    // CLOCK_MONOTONIC in ns at which a viewer last asked for the function.
    uint64_t used_ns;
};

// Callbacks that make listings and send them to viewers. The collector's thread
// calls the callbacks. In addition, any thread may call `answer`, and the
// server's thread and the governor's thread may call `wake`.
struct ListingRequestsSource {
    void *context;
    // Makes the listing of a function. Returns 0, -ENOENT if the function no
    // longer exists, or -ENOMEM. `text` may be NULL.
    int (*make)(void *context, uint32_t id, const struct OperandText *text,
                struct Listing **listing);
    // Sends a message to a viewer, which may have left.
    void (*answer)(void *context, uint64_t viewer,
                   const struct Message *message);
    // Returns true if the overhead budget is exceeded.
    bool (*is_overdrawn)(void *context);
    void (*wake)(void *context); // Wakes the collector.
    // Wakes the governor's thread, so that it reads operand text.
    struct Waker *governor;
};

struct ListingRequests {
    struct ListingRequestsSource source;
    pthread_mutex_t mutex; // Guards the members up to `entries`.
    bool closed;
    // CLOCK_MONOTONIC in ns. Until `quiet_ns` requests do not wake the
    // collector, which then wakes by itself.
    uint64_t quiet_ns;
    unsigned request_count;
    // The viewers' requests that wait, the oldest first.
    struct ListingRequest queue[LISTING_REQUESTS];
    unsigned wanted_count;
    // Ids of the functions whose operand text the governor must read.
    uint32_t wanted[LISTING_ENTRIES];
    struct OperandText *ready; // Operand text that the governor has delivered.
    struct ListingEntry entries[LISTING_ENTRIES];
    // CLOCK_MONOTONIC in ns at which the next listing may be made.
    uint64_t next_ns;
};

void ListingRequests_init(struct ListingRequests *requests,
                          const struct ListingRequestsSource *source);
void ListingRequests_release(struct ListingRequests *requests);

// Queues a viewer's request for a function's listing. A new request replaces
// the viewer's earlier request. Wakes the collector, unless it was woken a
// short time ago. Returns 0, -ESHUTDOWN or -EBUSY. The server's thread calls
// ListingRequests_ask.
int ListingRequests_ask(struct ListingRequests *requests, uint64_t viewer,
                        uint32_t number, uint32_t id);

// ListingRequests_next_text returns the id of the next function whose operand
// text is wanted, or 0. ListingRequests_deliver takes over the ownership of the
// operand text. The governor calls ListingRequests_next_text and
// ListingRequests_deliver.
uint32_t ListingRequests_next_text(struct ListingRequests *requests);
void ListingRequests_deliver(struct ListingRequests *requests,
                             struct OperandText *text);

// Makes the listings that must be made now, and answers the viewers. The
// collector's thread calls ListingRequests_serve outside of RCU read sections.
void ListingRequests_serve(struct ListingRequests *requests);
// Returns the milliseconds until ListingRequests_serve has work, at most
// `most`.
unsigned ListingRequests_pause_ms(struct ListingRequests *requests,
                                  unsigned most);
// Refuses all queued requests and all later requests.
void ListingRequests_close(struct ListingRequests *requests);
