// SPDX-License-Identifier: MIT
#include "tracer/code/latency.h"
#include "ipc/base/heap.h"

#define FIRST_ROOM 8
// Largest number of suspended calls of one function that the table can hold. If
// the table is full, latencies of further calls are not measured.
#define OPEN_MOST (1u << 20)
// Number of calls after which the histogram forgets half of its calls. The
// quantiles therefore describe the newest one to two thousand calls.
#define AGE_CALLS 1024
// A watch waits for the ends of the calls that are open when a function loses
// its hooks. In each second a watch may see this number of ends of other calls.
// Functions with more calls are too hot to be watched for long.
#define WATCH_ENDS 128
// Watches may see this number of ends in libraries for each end in the
// program's own functions.
#define LIBRARY_PART 0.25
// A full token bucket has the ends of this number of seconds.
#define WATCH_S 2.0

#define BOUND(at, bound) bound
static const double BOUNDS[] = {LATENCY_BOUNDS(BOUND), INFINITY};

static struct Latency *make(struct Code *code)
{
    struct Latency *latency = Code_latency(code);

    if (latency || code->who.ends == ENDS_FEW)
        return latency;
    latency = Heap_zeroed(1, sizeof *latency);
    if (!latency)
        return NULL;
    // The release pairs with the acquire in Code_latency.
    atomic_store_explicit(&code->cold.latency, latency, memory_order_release);
    return latency;
}

// --- The table of suspended calls

static struct SuspendedCall *slot_of(const struct Latency *latency,
                                     uint32_t frame)
{
    uint32_t mask = latency->room - 1;
    // The index consists of the product's highest bits, which depend on all
    // bits of the hash.
    uint32_t at =
        (uint32_t)((uint64_t)(frame * 0x9e3779b1u) * latency->room >> 32);

    while (latency->open[at].begin && latency->open[at].frame != frame)
        at = (at + 1) & mask;
    return &latency->open[at];
}

static struct SuspendedCall *find(const struct Latency *latency, uint32_t frame)
{
    struct SuspendedCall *open = latency->room ? slot_of(latency, frame) : NULL;

    return open && open->begin ? open : NULL;
}

static void empty(struct Latency *latency)
{
    Heap_free(latency->open);
    latency->open = NULL;
    latency->open_count = latency->room = latency->lost = 0;
}

// Enlarges the table for one more suspended call, if it is full. Returns false
// if the table has OPEN_MOST calls or memory is out.
static bool reserve(struct Latency *latency)
{
    struct SuspendedCall *old = latency->open, *open;
    uint32_t room = latency->room, i;

    if (2 * (latency->open_count + 1) <= room)
        return true;
    if (latency->open_count >= OPEN_MOST)
        return false;
    open = Heap_zeroed(room ? 2 * room : FIRST_ROOM, sizeof *open);
    if (!open)
        return false;
    latency->open = open;
    latency->room = room ? 2 * room : FIRST_ROOM;
    for (i = 0; i < room; i++)
        if (old[i].begin)
            *slot_of(latency, old[i].frame) = old[i];
    Heap_free(old);
    return true;
}

// Returns the ticks for which a part of a call ran, and 0 if the net clock has
// run back by some ticks.
static uint64_t ran_of(const struct CallPart *part)
{
    return part->ran > 0 ? (uint64_t)part->ran : 0;
}

static void miss(struct Latency *latency, uint64_t calls)
{
    struct LatencyTotals *totals = Latency_totals(latency);

    Counter_add(&latency->cut, calls);
    if (totals)
        Counter_add(&totals->missed, calls);
}

static void add(struct Latencies *latencies, struct Code *code,
                struct Latency *latency, const struct CallPart *part)
{
    struct SuspendedCall *open;

    if (!reserve(latency))
        return;
    if (!latency->open_count && !latency->listed) {
        latency->listed = true;
        latency->next = latencies->first;
        latencies->first = code;
    }
    open = slot_of(latency, part->frame);
    // An older call at this address has ended without an event.
    if (open->begin) {
        miss(latency, !latency->lost);
        latency->lost -= latency->lost > 0;
    }
    latency->open_count += !open->begin;
    *open = (struct SuspendedCall){part->begin, ran_of(part), part->frame};
}

// Removes an entry from the hash table and moves the entries behind it, so that
// each other entry is still found.
static void drop(struct Latency *latency, struct SuspendedCall *gone)
{
    uint32_t mask = latency->room - 1;
    uint32_t at = (uint32_t)(gone - latency->open);
    struct SuspendedCall moved;

    latency->open_count--;
    latency->open[at].begin = 0;
    for (at = (at + 1) & mask; latency->open[at].begin; at = (at + 1) & mask) {
        moved = latency->open[at];
        latency->open[at].begin = 0;
        *slot_of(latency, moved.frame) = moved;
    }
}

// --- Calls

static void lose(struct Code *code, uint64_t begin)
{
    struct Latency *latency = Code_latency(code);

    if (!latency || (!begin && !latency->open_count))
        return;
    miss(latency, 1);
    latency->lost += !begin;
    if (latency->lost >= latency->open_count)
        empty(latency);
}

__attribute__((noinline)) static bool suspend(struct Latencies *latencies,
                                              struct Code *code,
                                              const struct CallPart *part)
{
    struct Latency *latency = part->begin ? make(code) : Code_latency(code);
    struct SuspendedCall *open;

    if (!latency)
        return false;
    if (part->begin) {
        // If the function has no hooks, perhaps no hook will see the end of
        // this call.
        if (code->hot.dark && !code->hot.watched)
            lose(code, part->begin);
        else
            add(latencies, code, latency, part);
        return true;
    }
    open = find(latency, part->frame);
    if (open)
        open->ran += ran_of(part);
    return open;
}

static void count_total(struct LatencyTotals *totals, uint64_t wall)
{
    double seconds = (double)wall * totals->tick_s;
    unsigned at = 0;

    while (seconds > BOUNDS[at])
        at++;
    Counter_add(&totals->of[at], 1);
}

static void record(struct Latency *latency, uint64_t wall, uint64_t ran)
{
    struct LatencyTotals *totals = Latency_totals(latency);

    if (totals)
        count_total(totals, wall);
    Counter_add(&latency->calls, 1);
    Counter_add(&latency->wall, wall);
    Counter_add(&latency->ran, ran < wall ? ran : wall);
    if (wall > Counter_get(&latency->longest))
        Counter_set(&latency->longest, wall);
    Histogram_add(&latency->walls, wall >> LATENCY_SHIFT);
    if (++latency->aged < AGE_CALLS)
        return;
    latency->aged = 0;
    Counter_set(&latency->cut, Counter_get(&latency->cut) / 2);
    Histogram_age(&latency->walls);
}

static bool end(struct Code *code, const struct CallPart *part)
{
    struct Latency *latency = Code_latency(code);
    struct SuspendedCall *open;

    if (part->begin) {
        // Code that runs once, such as a module, needs no memory for a
        // histogram.
        if (!latency && Counter_get(&code->hot.entries) > 1)
            latency = make(code);
        if (latency)
            record(latency, part->end - part->begin, ran_of(part));
        return true;
    }
    open = latency ? find(latency, part->frame) : NULL;
    if (!open)
        return false;
    record(latency, part->end - open->begin, open->ran + ran_of(part));
    drop(latency, open);
    if (latency->lost >= latency->open_count)
        empty(latency);
    return true;
}

static bool note(struct Latencies *latencies, struct Code *code,
                 const struct CallPart *part)
{
    return part->suspends ? suspend(latencies, code, part) : end(code, part);
}

void Latency_lose(struct Code *code, uint64_t begin)
{
    code->hot.running -= begin != 0;
    lose(code, begin);
}

void Latency_cut(struct Code *code)
{
    struct Latency *latency = Code_latency(code);

    code->hot.watched = false;
    if (!latency || !latency->open_count)
        return;
    miss(latency, latency->open_count - latency->lost);
    empty(latency);
}

// --- The watch on the ends of calls

void Latency_allow(struct Latencies *latencies, double ends_a_second, double hz)
{
    for (int own = 0; own < 2; own++) {
        double rate = own ? ends_a_second : ends_a_second * LIBRARY_PART;

        latencies->ends[own].most = WATCH_S * rate;
        latencies->ends[own].per_tick = rate / hz;
    }
    latencies->second = (uint64_t)hz;
}

void Latency_watch(struct Latencies *latencies, struct Code *code,
                   uint64_t ticks)
{
    uint32_t unwinds =
        atomic_load_explicit(&latencies->unwinds, memory_order_relaxed);
    struct Latency *latency =
        code->hot.running ? make(code) : Code_latency(code);

    if (!latency || code->who.ends != ENDS_ALL || unwinds % 2) {
        Latency_cut(code);
        return;
    }
    latency->watch_left = WATCH_ENDS;
    latency->watch_ticks = ticks;
    latency->watch_unwinds = unwinds;
    code->hot.watched = true;
}

bool Latency_sees_ends(const struct Latencies *latencies,
                       const struct Code *code)
{
    return !code->hot.dark || (code->hot.watched &&
                               Code_latency(code)->watch_unwinds ==
                                   atomic_load_explicit(&latencies->unwinds,
                                                        memory_order_relaxed));
}

// Takes the end of a part of a call out of the token bucket. Returns false if
// the bucket is empty or the watch has seen too many ends.
static bool pay(struct Latencies *latencies, const struct Code *code,
                uint64_t ticks)
{
    struct EndsBucket *bucket = &latencies->ends[code->who.own];
    struct Latency *latency = Code_latency(code);
    double passed = (double)(int64_t)(ticks - bucket->ticks);

    bucket->left += passed * bucket->per_tick;
    if (!(bucket->left < bucket->most))
        bucket->left = bucket->most;
    bucket->ticks = ticks;
    if (ticks - latency->watch_ticks > latencies->second) {
        latency->watch_left = WATCH_ENDS;
        latency->watch_ticks = ticks;
    }
    if (!latency->watch_left || bucket->left < 1)
        return false;
    latency->watch_left--;
    bucket->left--;
    return true;
}

// Returns true if the hook stays that has seen the end of a part of a call.
// `known` is true if the beginning of the call was seen. Ends the watch if all
// calls that it waits for have ended, or if it has seen too many ends of calls.
// All ends of a library's calls are taken out of the token bucket, because some
// 20 calls of libraries are open at the end of each slice.
static bool watches(struct Latencies *latencies, struct Code *code,
                    const struct CallPart *part, bool known)
{
    const struct Latency *latency = Code_latency(code);

    if (code->hot.running || latency->open_count > latency->lost) {
        // The hook of suspensions is needed only for calls that were not
        // suspended before.
        if (part->suspends && !code->hot.running)
            return false;
        if ((known && code->who.own && (part->begin || !part->suspends)) ||
            pay(latencies, code, part->end))
            return true;
    }
    Latency_cut(code);
    return false;
}

bool Latency_note(struct Latencies *latencies, struct Code *code,
                  const struct CallPart *part)
{
    code->hot.running -= part->begin != 0;
    if (__builtin_expect(!code->hot.watched, 1)) {
        note(latencies, code, part);
        return false;
    }
    if (Latency_sees_ends(latencies, code))
        return watches(latencies, code, part, note(latencies, code, part));
    Latency_cut(code);
    return false;
}

// --- Calls in flight

static void count(const struct Latencies *latencies, struct Latency *latency,
                  uint32_t calls, uint64_t begin)
{
    if (latency->look != latencies->look) {
        latency->look = latencies->look;
        latency->in_flight = 0;
        latency->oldest = UINT64_MAX;
        latency->unsure = latency->lost > 0;
    }
    latency->in_flight += calls;
    if (begin < latency->oldest)
        latency->oldest = begin;
}

static uint64_t oldest(const struct Latency *latency)
{
    uint64_t oldest = UINT64_MAX;

    for (uint32_t i = 0; i < latency->room; i++)
        if (latency->open[i].begin && latency->open[i].begin < oldest)
            oldest = latency->open[i].begin;
    return oldest;
}

void Latency_look(struct Latencies *latencies)
{
    struct Code **link = &latencies->first;

    latencies->look++;
    while (*link) {
        struct Latency *latency = Code_latency(*link);

        if (!Latency_sees_ends(latencies, *link))
            Latency_cut(*link);
        if (latency->open_count) {
            count(latencies, latency, latency->open_count, oldest(latency));
            link = &latency->next;
        } else {
            empty(latency);
            latency->listed = false;
            *link = latency->next;
        }
    }
}

void Latency_see(struct Latencies *latencies, struct Code *code, uint64_t begin)
{
    struct Latency *latency = make(code);

    if (latency)
        count(latencies, latency, 1, begin);
}

void Latency_suspended(struct Code *code, uint32_t calls, uint64_t age,
                       uint64_t until)
{
    struct Latency *latency = make(code);

    if (!latency)
        return;
    // A snapshot that is being built may read values of two walks. Because of
    // Code_touch, the next snapshot reads the values of this walk.
    Counter_set(&latency->suspended_ended, Latency_ended(latency));
    Counter_set(&latency->suspended_age, age);
    Counter_set(&latency->suspended_until, until);
    Counter_set(&latency->suspended, calls);
    Code_touch(code);
}

bool Latency_count(struct Code *code, double hz)
{
    struct Latency *latency = Code_latency(code);
    struct LatencyTotals *totals;

    if (!latency || Latency_totals(latency))
        return latency;
    totals = Heap_zeroed(1, sizeof *totals);
    if (!totals)
        return false;
    totals->tick_s = 1 / hz;
    // A call that ends just now may be in the sum and not in a bucket.
    totals->wall_before = Counter_get(&latency->wall);
    // The release pairs with the acquire in Latency_totals.
    atomic_store_explicit(&latency->totals, totals, memory_order_release);
    Code_touch(code);
    return true;
}

void Latency_forget(struct Latencies *latencies, const struct Code *code)
{
    struct Code **link = &latencies->first;

    if (!Code_latency(code) || !Code_latency(code)->listed)
        return;
    for (; *link; link = &Code_latency(*link)->next)
        if (*link == code) {
            *link = Code_latency(code)->next;
            return;
        }
}
