// SPDX-License-Identifier: MIT
// Limits the cost of viewers that show code. A function's listing is made at
// most five times a second, once for all its viewers. All listings together use
// a fixed part of a core, and a smaller part while the budget is overdrawn. A
// viewer that asks for listings more often must wait.
#include "tracer/session/listing_wishes.h"
#include "ipc/base/now.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PERIOD_NS 200000000ull // ns between two listings of a function.
// ns between two listings of a function while the overhead budget is overdrawn.
#define DEBT_PERIOD_NS 950000000ull
#define CORE_PART 0.0025 // Part of a core that all listings together may use.
#define DEBT_PART 0.0005
// ns for which a listing waits for its operand text. The wait for the text is
// limited, because C code may hold the GIL for a long time.
#define TEXT_NS 300000000ull
// Operand text is kept for this number of ns after the last request for it.
#define KEPT_NS 10000000000ull
#define QUIET_NS 20000000ull // ns between two wake-ups of the collector.

void ListingWishes_init(struct ListingWishes *wishes,
                        const struct ListingWishesSource *source)
{
    memset(wishes, 0, sizeof *wishes);
    wishes->source = *source;
    pthread_mutex_init(&wishes->mutex, NULL);
}

static void free_list(struct OperandText *text)
{
    while (text) {
        struct OperandText *next = text->next;

        OperandText_free(text);
        text = next;
    }
}

void ListingWishes_release(struct ListingWishes *wishes)
{
    unsigned i;

    free_list(wishes->ready);
    for (i = 0; i < LISTING_ENTRIES; i++)
        OperandText_free(wishes->entries[i].text);
    pthread_mutex_destroy(&wishes->mutex);
}

// --- Asking ----------------------------------------------------------------

static void remove_wish(struct ListingWishes *wishes, unsigned index)
{
    memmove(wishes->queue + index, wishes->queue + index + 1,
            (--wishes->wish_count - index) * sizeof *wishes->queue);
}

// Queues a viewer's request for a listing. The caller holds the mutex. Returns
// 1 if no other viewer waits for this function's listing, otherwise 0 or
// -EBUSY.
static int add_wish(struct ListingWishes *wishes,
                    const struct ListingWish *wish)
{
    unsigned i;
    int news = 1;

    for (i = 0; i < wishes->wish_count; i++) {
        struct ListingWish *other = &wishes->queue[i];

        if (other->viewer == wish->viewer && other->id == wish->id) {
            // The new request takes the place of the viewer's earlier request
            // in the queue.
            other->request = wish->request;
            return 0;
        }
        if (other->viewer == wish->viewer)
            remove_wish(wishes, i--);
        else if (other->id == wish->id)
            news = 0;
    }
    if (wishes->wish_count == LISTING_WISHES)
        return -EBUSY;
    wishes->queue[wishes->wish_count++] = *wish;
    return news;
}

int ListingWishes_ask(struct ListingWishes *wishes, uint64_t viewer,
                      uint32_t request, uint32_t id)
{
    const struct ListingWish wish = {viewer, request, id,
                                     Now_ns(CLOCK_MONOTONIC)};
    int news = -ESHUTDOWN;
    bool woken = false;

    pthread_mutex_lock(&wishes->mutex);
    if (!wishes->closed)
        news = add_wish(wishes, &wish);
    if (news > 0 && wish.asked_ns >= wishes->quiet_ns) {
        wishes->quiet_ns = wish.asked_ns + QUIET_NS;
        woken = true;
    }
    pthread_mutex_unlock(&wishes->mutex);
    if (woken)
        wishes->source.wake(wishes->source.context);
    return news < 0 ? news : 0;
}

// --- Operand text ------------------------------------------------------------

uint32_t ListingWishes_next_text(struct ListingWishes *wishes)
{
    uint32_t id = 0;

    pthread_mutex_lock(&wishes->mutex);
    if (wishes->wanted_count)
        id = wishes->wanted[--wishes->wanted_count];
    pthread_mutex_unlock(&wishes->mutex);
    return id;
}

void ListingWishes_deliver(struct ListingWishes *wishes,
                           struct OperandText *text)
{
    pthread_mutex_lock(&wishes->mutex);
    text->next = wishes->ready;
    wishes->ready = text;
    pthread_mutex_unlock(&wishes->mutex);
    wishes->source.wake(wishes->source.context);
}

// Asks the governor for operand text. Returns false if the governor does not
// run or is asked for too much.
static bool want_text(struct ListingWishes *wishes, uint32_t id)
{
    bool asked = false;

    pthread_mutex_lock(&wishes->mutex);
    if (wishes->wanted_count < LISTING_ENTRIES) {
        wishes->wanted[wishes->wanted_count] = id;
        asked = Waker_wake(wishes->source.governor);
        wishes->wanted_count += asked;
    }
    pthread_mutex_unlock(&wishes->mutex);
    return asked;
}

// --- Functions that viewers show -------------------------------------------

static void drop_entry(struct ListingEntry *entry)
{
    OperandText_free(entry->text);
    memset(entry, 0, sizeof *entry);
}

static struct ListingEntry *find_entry(struct ListingWishes *wishes,
                                       uint32_t id)
{
    unsigned i;

    for (i = 0; i < LISTING_ENTRIES; i++)
        if (wishes->entries[i].id == id)
            return &wishes->entries[i];
    return NULL;
}

// Returns the function's ListingEntry. If the function has no ListingEntry,
// takes a free one or the one that was not used for the longest time.
static struct ListingEntry *take_entry(struct ListingWishes *wishes,
                                       uint32_t id, uint64_t now)
{
    struct ListingEntry *entry = find_entry(wishes, id), *other;
    unsigned i;

    if (!entry) {
        entry = wishes->entries;
        for (i = 1; i < LISTING_ENTRIES; i++) {
            other = &wishes->entries[i];
            if (other->used_ns < entry->used_ns)
                entry = other;
        }
        drop_entry(entry);
        entry->id = id;
    }
    if (!entry->text && !entry->asked)
        entry->asked = want_text(wishes, id);
    entry->used_ns = now;
    return entry;
}

static void take_text(struct ListingWishes *wishes, uint64_t now)
{
    struct OperandText *text, *next;
    unsigned i;

    pthread_mutex_lock(&wishes->mutex);
    text = wishes->ready;
    wishes->ready = NULL;
    pthread_mutex_unlock(&wishes->mutex);
    for (; text; text = next) {
        struct ListingEntry *entry = find_entry(wishes, text->id);

        next = text->next;
        if (entry && !entry->text)
            entry->text = text;
        else
            OperandText_free(text);
    }
    for (i = 0; i < LISTING_ENTRIES; i++)
        if (wishes->entries[i].id && now - wishes->entries[i].used_ns > KEPT_NS)
            drop_entry(&wishes->entries[i]);
}

// --- Answers ---------------------------------------------------------------

static void send(struct ListingWishes *wishes, const struct ListingWish *wish,
                 struct Message *message)
{
    const struct ListingWishesSource *source = &wishes->source;

    message->request = wish->request;
    source->answer(source->context, wish->viewer, message);
}

static void refuse(struct ListingWishes *wishes, const struct ListingWish *wish,
                   int error, const char *why)
{
    struct Message answer = {.type = MESSAGE_ERROR, .number = (uint64_t)error};
    char text[160];

    snprintf(text, sizeof text, "%s", why);
    answer.text = text;
    send(wishes, wish, &answer);
}

// Removes all requests for a function's listing from the queue. Returns the
// number of removed requests.
static unsigned take_wishes(struct ListingWishes *wishes, uint32_t id,
                            struct ListingWish taken[LISTING_WISHES])
{
    unsigned count = 0, i;

    pthread_mutex_lock(&wishes->mutex);
    for (i = 0; i < wishes->wish_count;) {
        if (wishes->queue[i].id == id) {
            taken[count++] = wishes->queue[i];
            remove_wish(wishes, i);
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&wishes->mutex);
    return count;
}

// Makes a listing and sends it to all viewers that have asked for it. Before it
// makes the listing, removes the requests from the queue, because a listing
// must be newer than its request. If a viewer asks while the listing is made,
// the viewer waits for the next one.
static void answer(struct ListingWishes *wishes,
                   const struct ListingEntry *entry)
{
    const struct ListingWishesSource *source = &wishes->source;
    struct Message message = {.type = MESSAGE_LISTING};
    struct ListingWish taken[LISTING_WISHES];
    unsigned count = take_wishes(wishes, entry->id, taken), i;
    int error =
        source->make(source->context, entry->id, entry->text, &message.listing);

    for (i = 0; i < count; i++) {
        if (!error)
            send(wishes, &taken[i], &message);
        else if (error == -ENOENT)
            refuse(wishes, &taken[i], ENOENT,
                   "this function is gone: its code object has been freed");
        else if (error)
            refuse(wishes, &taken[i], -error, "no memory for a listing");
    }
    Listing_free(message.listing);
}

// --- Times -----------------------------------------------------------------

// Returns the earliest time in ns at which a viewer's request may be answered.
static uint64_t due_ns(const struct ListingWishes *wishes,
                       const struct ListingEntry *entry,
                       const struct ListingWish *wish)
{
    uint64_t due = wishes->next_ns;

    if (entry->built_ns && entry->built_ns + PERIOD_NS > due)
        due = entry->built_ns + PERIOD_NS;
    // The first listing of a function waits some time for its operand text.
    if (entry->asked && !entry->text && !entry->built_ns &&
        wish->asked_ns + TEXT_NS > due)
        due = wish->asked_ns + TEXT_NS;
    return due;
}

// Finds the viewer's request that is due first, and returns the time in ns at
// which it is due. If there is no request, returns UINT64_MAX. Also gives a
// ListingEntry to each new request.
static uint64_t next_wish(struct ListingWishes *wishes,
                          struct ListingWish *wish)
{
    struct ListingWish taken[LISTING_WISHES];
    uint64_t first = UINT64_MAX, now = Now_ns(CLOCK_MONOTONIC);
    unsigned count, i;

    pthread_mutex_lock(&wishes->mutex);
    count = wishes->wish_count;
    memcpy(taken, wishes->queue, count * sizeof *taken);
    pthread_mutex_unlock(&wishes->mutex);
    for (i = 0; i < count; i++) {
        uint64_t due =
            due_ns(wishes, take_entry(wishes, taken[i].id, now), &taken[i]);

        if (due < first) {
            first = due;
            *wish = taken[i];
        }
    }
    return first;
}

static void set_due(struct ListingWishes *wishes, struct ListingEntry *entry,
                    uint64_t took_ns)
{
    bool debt = wishes->source.is_overdrawn(wishes->source.context);
    uint64_t now = Now_ns(CLOCK_MONOTONIC);

    entry->built_ns = debt ? now + DEBT_PERIOD_NS - PERIOD_NS : now;
    wishes->next_ns =
        now + (uint64_t)((double)took_ns / (debt ? DEBT_PART : CORE_PART));
}

void ListingWishes_serve(struct ListingWishes *wishes)
{
    struct ListingWish wish;

    take_text(wishes, Now_ns(CLOCK_MONOTONIC));
    while (next_wish(wishes, &wish) <= Now_ns(CLOCK_MONOTONIC)) {
        uint64_t begun = Now_ns(CLOCK_THREAD_CPUTIME_ID);
        struct ListingEntry *entry = find_entry(wishes, wish.id);

        answer(wishes, entry);
        set_due(wishes, entry, Now_ns(CLOCK_THREAD_CPUTIME_ID) - begun);
    }
}

unsigned ListingWishes_pause_ms(struct ListingWishes *wishes, unsigned most)
{
    uint64_t now = Now_ns(CLOCK_MONOTONIC), quiet_ns;
    struct ListingWish wish;
    uint64_t due = next_wish(wishes, &wish);

    pthread_mutex_lock(&wishes->mutex);
    quiet_ns = wishes->quiet_ns;
    pthread_mutex_unlock(&wishes->mutex);
    if (quiet_ns > now && quiet_ns < due)
        due = quiet_ns;
    if (due == UINT64_MAX)
        return most;
    if (due <= now)
        return 0;
    return (due - now) / 1000000 < most ? (unsigned)((due - now) / 1000000) + 1
                                        : most;
}

size_t ListingWishes_bytes(struct ListingWishes *wishes)
{
    size_t bytes = 0;
    unsigned i;

    for (i = 0; i < LISTING_ENTRIES; i++)
        if (wishes->entries[i].text)
            bytes += OperandText_bytes(wishes->entries[i].text);
    return bytes;
}

void ListingWishes_close(struct ListingWishes *wishes)
{
    unsigned i;

    pthread_mutex_lock(&wishes->mutex);
    wishes->closed = true;
    for (i = 0; i < wishes->wish_count; i++)
        refuse(wishes, &wishes->queue[i], ESHUTDOWN, "tracing is ending");
    wishes->wish_count = 0;
    pthread_mutex_unlock(&wishes->mutex);
}
