// SPDX-License-Identifier: MIT
// The cost of viewers of code is bounded here. A function's listing is made
// five times a second at most, once for all its viewers, and all listings
// together take a fixed part of a core, a smaller one while the budget is
// overdrawn. A viewer that asks more often waits.
#include "tracer/session/listing_wishes.h"
#include "ipc/base/now.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PERIOD_NS 200000000ull      // between two listings of a function
#define DEBT_PERIOD_NS 950000000ull // if the budget is overdrawn
#define CORE_PART 0.0025            // of a core that listings may take
#define DEBT_PART 0.0005
#define TEXT_NS                                                                \
    300000000ull               // the governor's time: the interpreter may be
                               // held by C code for long
#define KEPT_NS 10000000000ull // operand text of what nobody looks at any more
#define QUIET_NS 20000000ull   // between two wake-ups of the collector

void ListingWishes_init(struct ListingWishes *details,
                        const struct ListingWishesSource *source)
{
    memset(details, 0, sizeof *details);
    details->source = *source;
    pthread_mutex_init(&details->mutex, NULL);
}

static void free_list(struct OperandText *text)
{
    while (text) {
        struct OperandText *next = text->next;

        OperandText_free(text);
        text = next;
    }
}

void ListingWishes_release(struct ListingWishes *details)
{
    unsigned i;

    free_list(details->ready);
    for (i = 0; i < LISTING_ENTRIES; i++)
        OperandText_free(details->entries[i].text);
    pthread_mutex_destroy(&details->mutex);
}

void ListingWishes_set_wake(struct ListingWishes *details,
                            void (*wake)(void *context), void *context)
{
    pthread_mutex_lock(&details->mutex);
    details->wake = wake;
    details->wake_context = context;
    pthread_mutex_unlock(&details->mutex);
}

void ListingWishes_wake(struct ListingWishes *details)
{
    pthread_mutex_lock(&details->mutex);
    if (details->wake)
        details->wake(details->wake_context);
    pthread_mutex_unlock(&details->mutex);
}

// --- Asking ----------------------------------------------------------------

static void remove_wish(struct ListingWishes *details, unsigned index)
{
    memmove(details->wishes + index, details->wishes + index + 1,
            (--details->wish_count - index) * sizeof *details->wishes);
}

// Mutex held. 1: nobody waits for that function yet.
static int add_wish(struct ListingWishes *details,
                    const struct ListingWish *wish)
{
    unsigned i;
    int news = 1;

    for (i = 0; i < details->wish_count; i++) {
        struct ListingWish *other = &details->wishes[i];

        if (other->viewer == wish->viewer && other->id == wish->id) {
            other->request = wish->request; // its place in the line stays
            return 0;
        }
        if (other->viewer == wish->viewer)
            remove_wish(details, i--);
        else if (other->id == wish->id)
            news = 0;
    }
    if (details->wish_count == LISTING_WISHES)
        return -EBUSY;
    details->wishes[details->wish_count++] = *wish;
    return news;
}

int ListingWishes_ask(struct ListingWishes *details, uint64_t viewer,
                      uint32_t request, uint32_t id)
{
    const struct ListingWish wish = {viewer, request, id,
                                     Now_ns(CLOCK_MONOTONIC)};
    int news = -ESHUTDOWN;
    bool woken = false;

    pthread_mutex_lock(&details->mutex);
    if (!details->closed)
        news = add_wish(details, &wish);
    if (news > 0 && wish.asked_ns >= details->quiet_ns) {
        details->quiet_ns = wish.asked_ns + QUIET_NS;
        woken = true;
    }
    pthread_mutex_unlock(&details->mutex);
    if (woken)
        details->source.wake(details->source.context);
    return news < 0 ? news : 0;
}

// --- Operand text ------------------------------------------------------------

uint32_t ListingWishes_next_text(struct ListingWishes *details)
{
    uint32_t id = 0;

    pthread_mutex_lock(&details->mutex);
    if (details->wanted_count)
        id = details->wanted[--details->wanted_count];
    pthread_mutex_unlock(&details->mutex);
    return id;
}

void ListingWishes_deliver(struct ListingWishes *details,
                           struct OperandText *text)
{
    pthread_mutex_lock(&details->mutex);
    text->next = details->ready;
    details->ready = text;
    pthread_mutex_unlock(&details->mutex);
    details->source.wake(details->source.context);
}

// false: there is nobody to ask.
static bool want_text(struct ListingWishes *details, uint32_t id)
{
    bool asked = false;

    pthread_mutex_lock(&details->mutex);
    if (details->wake && details->wanted_count < LISTING_ENTRIES) {
        details->wanted[details->wanted_count++] = id;
        details->wake(details->wake_context);
        asked = true;
    }
    pthread_mutex_unlock(&details->mutex);
    return asked;
}

// --- Functions that are looked at ------------------------------------------

static void drop_entry(struct ListingEntry *entry)
{
    OperandText_free(entry->text);
    memset(entry, 0, sizeof *entry);
}

static struct ListingEntry *find_entry(struct ListingWishes *details,
                                       uint32_t id)
{
    unsigned i;

    for (i = 0; i < LISTING_ENTRIES; i++)
        if (details->entries[i].id == id)
            return &details->entries[i];
    return NULL;
}

// The function's entry, or a free one, or the one that was used longest ago.
static struct ListingEntry *take_entry(struct ListingWishes *details,
                                       uint32_t id, uint64_t now)
{
    struct ListingEntry *entry = find_entry(details, id), *other;
    unsigned i;

    if (!entry) {
        entry = details->entries;
        for (i = 1; i < LISTING_ENTRIES; i++) {
            other = &details->entries[i];
            if (other->used_ns < entry->used_ns)
                entry = other;
        }
        drop_entry(entry);
        entry->id = id;
    }
    if (!entry->text && !entry->asked)
        entry->asked = want_text(details, id);
    entry->used_ns = now;
    return entry;
}

static void take_text(struct ListingWishes *details, uint64_t now)
{
    struct OperandText *text, *next;
    unsigned i;

    pthread_mutex_lock(&details->mutex);
    text = details->ready;
    details->ready = NULL;
    pthread_mutex_unlock(&details->mutex);
    for (; text; text = next) {
        struct ListingEntry *entry = find_entry(details, text->id);

        next = text->next;
        if (entry && !entry->text)
            entry->text = text;
        else
            OperandText_free(text);
    }
    for (i = 0; i < LISTING_ENTRIES; i++)
        if (details->entries[i].id &&
            now - details->entries[i].used_ns > KEPT_NS)
            drop_entry(&details->entries[i]);
}

// --- Answers ---------------------------------------------------------------

static void send(struct ListingWishes *details, const struct ListingWish *wish,
                 struct Message *message)
{
    const struct ListingWishesSource *source = &details->source;

    message->request = wish->request;
    source->answer(source->context, wish->viewer, message);
}

static void refuse(struct ListingWishes *details,
                   const struct ListingWish *wish, int error, const char *why)
{
    struct Message answer = {.type = MESSAGE_ERROR, .number = (uint64_t)error};
    char text[160];

    snprintf(text, sizeof text, "%s", why);
    answer.text = text;
    send(details, wish, &answer);
}

// Takes out those who wait for that function, and returns their number.
static unsigned take_wishes(struct ListingWishes *details, uint32_t id,
                            struct ListingWish wishes[LISTING_WISHES])
{
    unsigned count = 0, i;

    pthread_mutex_lock(&details->mutex);
    for (i = 0; i < details->wish_count;) {
        if (details->wishes[i].id == id) {
            wishes[count++] = details->wishes[i];
            remove_wish(details, i);
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&details->mutex);
    return count;
}

// A viewer that asks while the listing is made waits for the next one: a
// listing is made after its request has come.
static void answer(struct ListingWishes *details,
                   const struct ListingEntry *entry)
{
    const struct ListingWishesSource *source = &details->source;
    struct Message message = {.type = MESSAGE_LISTING};
    struct ListingWish wishes[LISTING_WISHES];
    unsigned count = take_wishes(details, entry->id, wishes), i;
    int error =
        source->make(source->context, entry->id, entry->text, &message.listing);

    for (i = 0; i < count; i++) {
        if (!error)
            send(details, &wishes[i], &message);
        else if (error == -ENOENT)
            refuse(details, &wishes[i], ENOENT,
                   "this function is gone: its code object has been freed");
        else if (error)
            refuse(details, &wishes[i], -error, "no memory for a listing");
    }
    Listing_free(message.listing);
}

// --- When ------------------------------------------------------------------

// The time from which this request may be answered.
static uint64_t due_ns(const struct ListingWishes *details,
                       const struct ListingEntry *entry,
                       const struct ListingWish *wish)
{
    uint64_t due = details->next_ns;

    if (entry->built_ns && entry->built_ns + PERIOD_NS > due)
        due = entry->built_ns + PERIOD_NS;
    // The first one waits a moment for its operand text.
    if (entry->asked && !entry->text && !entry->built_ns &&
        wish->asked_ns + TEXT_NS > due)
        due = wish->asked_ns + TEXT_NS;
    return due;
}

// Finds the request that is due first, and when; UINT64_MAX: there is none. New
// ones get an entry.
static uint64_t next_wish(struct ListingWishes *details,
                          struct ListingWish *wish)
{
    struct ListingWish wishes[LISTING_WISHES];
    uint64_t first = UINT64_MAX, now = Now_ns(CLOCK_MONOTONIC);
    unsigned count, i;

    pthread_mutex_lock(&details->mutex);
    count = details->wish_count;
    memcpy(wishes, details->wishes, count * sizeof *wishes);
    pthread_mutex_unlock(&details->mutex);
    for (i = 0; i < count; i++) {
        uint64_t due =
            due_ns(details, take_entry(details, wishes[i].id, now), &wishes[i]);

        if (due < first) {
            first = due;
            *wish = wishes[i];
        }
    }
    return first;
}

static void set_due(struct ListingWishes *details, struct ListingEntry *entry,
                    uint64_t took_ns)
{
    bool debt = details->source.is_overdrawn(details->source.context);
    uint64_t now = Now_ns(CLOCK_MONOTONIC);

    entry->built_ns = debt ? now + DEBT_PERIOD_NS - PERIOD_NS : now;
    details->next_ns =
        now + (uint64_t)((double)took_ns / (debt ? DEBT_PART : CORE_PART));
}

void ListingWishes_serve(struct ListingWishes *details)
{
    struct ListingWish wish;

    take_text(details, Now_ns(CLOCK_MONOTONIC));
    while (next_wish(details, &wish) <= Now_ns(CLOCK_MONOTONIC)) {
        uint64_t begun = Now_ns(CLOCK_THREAD_CPUTIME_ID);
        struct ListingEntry *entry = find_entry(details, wish.id);

        answer(details, entry);
        set_due(details, entry, Now_ns(CLOCK_THREAD_CPUTIME_ID) - begun);
    }
}

unsigned ListingWishes_pause_ms(struct ListingWishes *details, unsigned most)
{
    uint64_t now = Now_ns(CLOCK_MONOTONIC), quiet_ns;
    struct ListingWish wish;
    uint64_t due = next_wish(details, &wish);

    pthread_mutex_lock(&details->mutex);
    quiet_ns = details->quiet_ns;
    pthread_mutex_unlock(&details->mutex);
    if (quiet_ns > now && quiet_ns < due)
        due = quiet_ns;
    if (due == UINT64_MAX)
        return most;
    if (due <= now)
        return 0;
    return (due - now) / 1000000 < most ? (unsigned)((due - now) / 1000000) + 1
                                        : most;
}

size_t ListingWishes_bytes(struct ListingWishes *details)
{
    size_t bytes = 0;
    unsigned i;

    for (i = 0; i < LISTING_ENTRIES; i++)
        if (details->entries[i].text)
            bytes += OperandText_bytes(details->entries[i].text);
    return bytes;
}

void ListingWishes_close(struct ListingWishes *details)
{
    unsigned i;

    pthread_mutex_lock(&details->mutex);
    details->closed = true;
    for (i = 0; i < details->wish_count; i++)
        refuse(details, &details->wishes[i], ESHUTDOWN, "tracing is ending");
    details->wish_count = 0;
    pthread_mutex_unlock(&details->mutex);
}
