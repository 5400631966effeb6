// SPDX-License-Identifier: MIT
// Limits the cost of viewers that show code. A function's listing is made at
// most five times a second, once for all its viewers. All listings together use
// a fixed part of a core, and a smaller part while the budget is exceeded
// (overdrawn). Viewers that ask for more must wait.
#include "tracer/session/listing_requests.h"
#include "ipc/base/now.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PERIOD_NS 200000000ull // ns between two listings of a function.
// ns between two listings of a function while the overhead budget is exceeded
// (overdrawn).
#define DEBT_PERIOD_NS 950000000ull
#define CORE_PART 0.0025 // Largest part of a core for all listings.
#define DEBT_PART 0.0005
// A listing waits at most this number of ns for its operand text. The text may
// take longer, because C code may hold the GIL for a long time.
#define TEXT_NS 300000000ull
// Operand text is kept for this number of ns after the last request for it.
#define KEPT_NS 10000000000ull
#define QUIET_NS 20000000ull // ns between two wake-ups of the collector.

void ListingRequests_init(struct ListingRequests *requests,
                          const struct ListingRequestsSource *source)
{
    memset(requests, 0, sizeof *requests);
    requests->source = *source;
    pthread_mutex_init(&requests->mutex, NULL);
}

static void free_list(struct OperandText *text)
{
    while (text) {
        struct OperandText *next = text->next;

        OperandText_free(text);
        text = next;
    }
}

void ListingRequests_release(struct ListingRequests *requests)
{
    unsigned i;

    free_list(requests->ready);
    for (i = 0; i < LISTING_ENTRIES; i++)
        OperandText_free(requests->entries[i].text);
    pthread_mutex_destroy(&requests->mutex);
}

// --- Asking ----------------------------------------------------------------

static void remove_request(struct ListingRequests *requests, unsigned index)
{
    memmove(requests->queue + index, requests->queue + index + 1,
            (--requests->request_count - index) * sizeof *requests->queue);
}

// Queues a viewer's request for a listing. The caller holds the mutex. Returns
// 1 if no other viewer waits for a listing of the same function, otherwise 0 or
// -EBUSY.
static int add_request(struct ListingRequests *requests,
                       const struct ListingRequest *request)
{
    unsigned i;
    int news = 1;

    for (i = 0; i < requests->request_count; i++) {
        struct ListingRequest *other = &requests->queue[i];

        if (other->viewer == request->viewer && other->id == request->id) {
            // The new request takes the place in the queue of the viewer's
            // earlier request.
            other->number = request->number;
            return 0;
        }
        if (other->viewer == request->viewer)
            remove_request(requests, i--);
        else if (other->id == request->id)
            news = 0;
    }
    if (requests->request_count == LISTING_REQUESTS)
        return -EBUSY;
    requests->queue[requests->request_count++] = *request;
    return news;
}

int ListingRequests_ask(struct ListingRequests *requests, uint64_t viewer,
                        uint32_t number, uint32_t id)
{
    const struct ListingRequest request = {viewer, number, id,
                                           Now_ns(CLOCK_MONOTONIC)};
    int news = -ESHUTDOWN;
    bool woken = false;

    pthread_mutex_lock(&requests->mutex);
    if (!requests->closed)
        news = add_request(requests, &request);
    if (news > 0 && request.asked_ns >= requests->quiet_ns) {
        requests->quiet_ns = request.asked_ns + QUIET_NS;
        woken = true;
    }
    pthread_mutex_unlock(&requests->mutex);
    if (woken)
        requests->source.wake(requests->source.context);
    return news < 0 ? news : 0;
}

// --- Operand text ------------------------------------------------------------

uint32_t ListingRequests_next_text(struct ListingRequests *requests)
{
    uint32_t id = 0;

    pthread_mutex_lock(&requests->mutex);
    if (requests->wanted_count)
        id = requests->wanted[--requests->wanted_count];
    pthread_mutex_unlock(&requests->mutex);
    return id;
}

void ListingRequests_deliver(struct ListingRequests *requests,
                             struct OperandText *text)
{
    pthread_mutex_lock(&requests->mutex);
    text->next = requests->ready;
    requests->ready = text;
    pthread_mutex_unlock(&requests->mutex);
    requests->source.wake(requests->source.context);
}

// Asks the governor for operand text. Returns false if the governor does not
// run or has too many requests.
static bool want_text(struct ListingRequests *requests, uint32_t id)
{
    bool asked = false;

    pthread_mutex_lock(&requests->mutex);
    if (requests->wanted_count < LISTING_ENTRIES) {
        requests->wanted[requests->wanted_count] = id;
        asked = Waker_wake(requests->source.governor);
        requests->wanted_count += asked;
    }
    pthread_mutex_unlock(&requests->mutex);
    return asked;
}

// --- Functions that viewers show -------------------------------------------

static void drop_entry(struct ListingEntry *entry)
{
    OperandText_free(entry->text);
    memset(entry, 0, sizeof *entry);
}

static struct ListingEntry *find_entry(struct ListingRequests *requests,
                                       uint32_t id)
{
    unsigned i;

    for (i = 0; i < LISTING_ENTRIES; i++)
        if (requests->entries[i].id == id)
            return &requests->entries[i];
    return NULL;
}

// Returns the function's ListingEntry. If there is none yet, takes a free entry
// or the one that was not used for the longest time.
static struct ListingEntry *take_entry(struct ListingRequests *requests,
                                       uint32_t id, uint64_t now)
{
    struct ListingEntry *entry = find_entry(requests, id), *other;
    unsigned i;

    if (!entry) {
        entry = requests->entries;
        for (i = 1; i < LISTING_ENTRIES; i++) {
            other = &requests->entries[i];
            if (other->used_ns < entry->used_ns)
                entry = other;
        }
        drop_entry(entry);
        entry->id = id;
    }
    if (!entry->text && !entry->asked)
        entry->asked = want_text(requests, id);
    entry->used_ns = now;
    return entry;
}

static void take_text(struct ListingRequests *requests, uint64_t now)
{
    struct OperandText *text, *next;
    unsigned i;

    pthread_mutex_lock(&requests->mutex);
    text = requests->ready;
    requests->ready = NULL;
    pthread_mutex_unlock(&requests->mutex);
    for (; text; text = next) {
        struct ListingEntry *entry = find_entry(requests, text->id);

        next = text->next;
        if (entry && !entry->text)
            entry->text = text;
        else
            OperandText_free(text);
    }
    for (i = 0; i < LISTING_ENTRIES; i++)
        if (requests->entries[i].id &&
            now - requests->entries[i].used_ns > KEPT_NS)
            drop_entry(&requests->entries[i]);
}

// --- Answers ---------------------------------------------------------------

static void send(struct ListingRequests *requests,
                 const struct ListingRequest *request, struct Message *message)
{
    const struct ListingRequestsSource *source = &requests->source;

    message->request = request->number;
    source->answer(source->context, request->viewer, message);
}

static void refuse(struct ListingRequests *requests,
                   const struct ListingRequest *request, int error,
                   const char *why)
{
    struct Message answer = {
        .type = MESSAGE_ERROR, .number = (uint64_t)error, .text = (char *)why};

    send(requests, request, &answer);
}

// Removes all requests for a function's listing from the queue. Returns the
// number of removed requests.
static unsigned take_requests(struct ListingRequests *requests, uint32_t id,
                              struct ListingRequest taken[LISTING_REQUESTS])
{
    unsigned count = 0, i;

    pthread_mutex_lock(&requests->mutex);
    for (i = 0; i < requests->request_count;) {
        if (requests->queue[i].id == id) {
            taken[count++] = requests->queue[i];
            remove_request(requests, i);
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&requests->mutex);
    return count;
}

// Makes a listing and sends it to all viewers that have asked for it. The
// requests are removed from the queue first, because a listing must be newer
// than its request. A viewer that asks while the listing is made waits for the
// next one.
static void answer(struct ListingRequests *requests,
                   const struct ListingEntry *entry)
{
    const struct ListingRequestsSource *source = &requests->source;
    struct Message message = {.type = MESSAGE_LISTING};
    struct ListingRequest taken[LISTING_REQUESTS];
    unsigned count = take_requests(requests, entry->id, taken), i;
    int error =
        source->make(source->context, entry->id, entry->text, &message.listing);

    for (i = 0; i < count; i++) {
        if (!error)
            send(requests, &taken[i], &message);
        else if (error == -ENOENT)
            refuse(requests, &taken[i], ENOENT,
                   "this function is gone: its code object has been freed");
        else if (error)
            refuse(requests, &taken[i], -error, "no memory for a listing");
    }
    Listing_free(message.listing);
}

// --- Times -----------------------------------------------------------------

// Returns the earliest time in ns at which a viewer's request may be answered.
static uint64_t due_ns(const struct ListingRequests *requests,
                       const struct ListingEntry *entry,
                       const struct ListingRequest *request)
{
    uint64_t due = requests->next_ns;

    if (entry->built_ns && entry->built_ns + PERIOD_NS > due)
        due = entry->built_ns + PERIOD_NS;
    // The first listing of a function waits for a while for its operand text.
    if (entry->asked && !entry->text && !entry->built_ns &&
        request->asked_ns + TEXT_NS > due)
        due = request->asked_ns + TEXT_NS;
    return due;
}

// Finds the request that must be answered first, and returns the time in ns at
// which it is due. Returns UINT64_MAX if there is no request. next_request also
// gives a ListingEntry to each new request.
static uint64_t next_request(struct ListingRequests *requests,
                             struct ListingRequest *request)
{
    struct ListingRequest taken[LISTING_REQUESTS];
    uint64_t first = UINT64_MAX, now = Now_ns(CLOCK_MONOTONIC);
    unsigned count, i;

    pthread_mutex_lock(&requests->mutex);
    count = requests->request_count;
    memcpy(taken, requests->queue, count * sizeof *taken);
    pthread_mutex_unlock(&requests->mutex);
    for (i = 0; i < count; i++) {
        uint64_t due =
            due_ns(requests, take_entry(requests, taken[i].id, now), &taken[i]);

        if (due < first) {
            first = due;
            *request = taken[i];
        }
    }
    return first;
}

static void set_due(struct ListingRequests *requests,
                    struct ListingEntry *entry, uint64_t took_ns)
{
    bool debt = requests->source.is_overdrawn(requests->source.context);
    uint64_t now = Now_ns(CLOCK_MONOTONIC);

    entry->built_ns = debt ? now + DEBT_PERIOD_NS - PERIOD_NS : now;
    requests->next_ns =
        now + (uint64_t)((double)took_ns / (debt ? DEBT_PART : CORE_PART));
}

void ListingRequests_serve(struct ListingRequests *requests)
{
    struct ListingRequest request;

    take_text(requests, Now_ns(CLOCK_MONOTONIC));
    while (next_request(requests, &request) <= Now_ns(CLOCK_MONOTONIC)) {
        uint64_t begun = Now_ns(CLOCK_THREAD_CPUTIME_ID);
        struct ListingEntry *entry = find_entry(requests, request.id);

        answer(requests, entry);
        set_due(requests, entry, Now_ns(CLOCK_THREAD_CPUTIME_ID) - begun);
    }
}

unsigned ListingRequests_pause_ms(struct ListingRequests *requests,
                                  unsigned most)
{
    uint64_t now = Now_ns(CLOCK_MONOTONIC), quiet_ns;
    struct ListingRequest request;
    uint64_t due = next_request(requests, &request);

    pthread_mutex_lock(&requests->mutex);
    quiet_ns = requests->quiet_ns;
    pthread_mutex_unlock(&requests->mutex);
    if (quiet_ns > now && quiet_ns < due)
        due = quiet_ns;
    if (due == UINT64_MAX)
        return most;
    if (due <= now)
        return 0;
    return (due - now) / 1000000 < most ? (unsigned)((due - now) / 1000000) + 1
                                        : most;
}

void ListingRequests_close(struct ListingRequests *requests)
{
    unsigned i;

    pthread_mutex_lock(&requests->mutex);
    requests->closed = true;
    for (i = 0; i < requests->request_count; i++)
        refuse(requests, &requests->queue[i], ESHUTDOWN, "tracing is ending");
    requests->request_count = 0;
    pthread_mutex_unlock(&requests->mutex);
}
