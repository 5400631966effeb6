// SPDX-License-Identifier: MIT
// Adds up times in a window that decays exponentially. A struct ShareValue
// stores the value at the time of its last credit. The decay since the last
// credit is computed when a thread reads the value. The sampler writes values,
// and any thread may read them.
#include "tracer/base/share.h"
#include "ipc/base/heap.h"

#include <math.h>

double ShareTime_decay(double from, double to)
{
    return to > from ? exp(from - to) : 1;
}

// --- The clock ---------------------------------------------------------------

static void fade(counter_t *sum, double kept, double more)
{
    Counter_set_double(sum, Counter_get_double(sum) * kept + more);
}

void ShareClock_advance(struct ShareClock *clock, double ns, double samples)
{
    double least = ns / (SHARE_LONGEST * 1e9);
    double most = ns / (SHARE_SHORTEST * 1e9);
    double aged = fmin(fmax(samples / SHARE_SAMPLES, least), most);
    double kept = exp(-aged);

    if (!(ns > 0))
        return;
    fade(&clock->full_ns, kept, ns);
    fade(&clock->square_ns, kept * kept, ns);
    fade(&clock->samples, kept, samples);
    fade(&clock->square_samples, kept * kept, samples);
    fade(&clock->ns, 1, ns);
    // A reader that sees the new age also sees the new sums.
    atomic_thread_fence(memory_order_release);
    fade(&clock->age, 1, aged);
    // A reader that sees a credit after this point also sees the new times of
    // the clock.
    atomic_thread_fence(memory_order_release);
}

struct ShareTime ShareClock_now(const struct ShareClock *clock)
{
    struct ShareTime now = {.age = Counter_get_double(&clock->age),
                            .clock = clock};

    atomic_thread_fence(memory_order_acquire);
    now.ns = Counter_get_double(&clock->ns);
    now.full_ns = Counter_get_double(&clock->full_ns);
    return now;
}

// Returns the clock's newest time if the clock has advanced since `now`, and
// otherwise *now. The value that the caller has just read can contain a credit
// that is newer than `now`. The error would be large in the first second, in
// which one advance of the clock can be most of the window.
static struct ShareTime catch_up(const struct ShareTime *now)
{
    atomic_thread_fence(memory_order_acquire);
    return now->clock && Counter_get_double(&now->clock->age) != now->age
               ? ShareClock_now(now->clock)
               : *now;
}

// Returns Kish's effective size of a weighted sample, computed from the sum of
// the weights and the sum of their squares.
static double effective(const counter_t *sum, const counter_t *squares)
{
    double whole = Counter_get_double(sum), parts = Counter_get_double(squares);

    return parts > 0 ? whole * whole / parts : 0;
}

double ShareClock_window_s(const struct ShareClock *clock)
{
    return effective(&clock->full_ns, &clock->square_ns) / 1e9;
}

double ShareClock_samples(const struct ShareClock *clock)
{
    return effective(&clock->samples, &clock->square_samples);
}

// --- Values ------------------------------------------------------------------

static double decayed(const struct ShareValue *value, double age)
{
    return Counter_get_double(&value->window_ns) *
           ShareTime_decay(Counter_get_double(&value->window_age), age);
}

void ShareCredit_init(struct ShareCredit *credit, const struct ShareTime *now,
                      double ns)
{
    credit->age = credit->at = now->age;
    credit->ns = ns > 0 ? ns : 0;
    credit->kept = 1;
}

void ShareValue_credit(struct ShareValue *value, struct ShareCredit *credit)
{
    double at = Counter_get_double(&value->window_age);

    if (!(credit->ns > 0))
        return;
    // Most values were last credited at the same time, so `kept` is seldom
    // computed again.
    if (at != credit->at) {
        credit->at = at;
        credit->kept = ShareTime_decay(at, credit->age);
    }
    Counter_add(&value->total_ns, (uint64_t)(credit->ns + 0.5));
    fade(&value->window_ns, credit->kept, credit->ns);
    atomic_thread_fence(memory_order_release);
    Counter_set_double(&value->window_age, credit->age);
}

void ShareValue_add(struct ShareValue *value, const struct ShareTime *now,
                    double ns)
{
    struct ShareCredit credit;

    ShareCredit_init(&credit, now, ns);
    ShareValue_credit(value, &credit);
}

void ShareValue_join(struct ShareValue *value, const struct ShareValue *other,
                     const struct ShareTime *now)
{
    Counter_add(&value->total_ns, Counter_get(&other->total_ns));
    Counter_set_double(&value->window_ns,
                       decayed(value, now->age) + decayed(other, now->age));
    atomic_thread_fence(memory_order_release);
    Counter_set_double(&value->window_age, now->age);
}

double ShareValue_window(const struct ShareValue *value,
                         const struct ShareTime *now)
{
    struct ShareTime at;
    double age, ns;

    // Most functions have never waited, and most functions were never sampled.
    if (Counter_get_double(&value->window_ns) == 0)
        return 0;
    // The age is read before the value of the window. The age can therefore be
    // older than the value, but never newer.
    age = Counter_get_double(&value->window_age);
    atomic_thread_fence(memory_order_acquire);
    ns = Counter_get_double(&value->window_ns);
    at = catch_up(now);
    return at.full_ns > 0 ? ns * ShareTime_decay(age, at.age) / at.full_ns : 0;
}

double ShareValue_total(const struct ShareValue *value,
                        const struct ShareTime *now)
{
    double ns = (double)Counter_get(&value->total_ns);
    struct ShareTime at = catch_up(now);

    return at.ns > 0 ? ns / at.ns : 0;
}

// --- The values of a function ------------------------------------------------

const struct ShareParts *Share_parts(const struct Share *share)
{
    static const struct ShareParts nothing;
    const struct ShareParts *parts =
        atomic_load_explicit(&share->parts, memory_order_acquire);

    return parts ? parts : &nothing;
}

const struct Breakdown *Share_callers(const struct Share *share)
{
    return atomic_load_explicit(&Share_parts(share)->callers,
                                memory_order_acquire);
}

struct ShareParts *Share_own_parts(struct Share *share)
{
    struct ShareParts *parts =
        atomic_load_explicit(&share->parts, memory_order_relaxed);

    if (!parts && (parts = Heap_zeroed(1, sizeof *parts)))
        atomic_store_explicit(&share->parts, parts, memory_order_release);
    return parts;
}

const struct ShareWaits *Share_waits(const struct Share *share)
{
    return atomic_load_explicit(&Share_parts(share)->waits,
                                memory_order_acquire);
}

struct ShareWaits *Share_own_waits(struct ShareParts *parts)
{
    struct ShareWaits *waits =
        atomic_load_explicit(&parts->waits, memory_order_relaxed);

    if (!waits && (waits = Heap_zeroed(1, sizeof *waits)))
        atomic_store_explicit(&parts->waits, waits, memory_order_release);
    return waits;
}

bool ShareWaits_divide(const struct ShareValue *kinds,
                       const struct ShareValue *whole,
                       const struct ShareTime *now, double *shares)
{
    double share = ShareValue_window(whole, now), sum = 0;

    for (int i = 0; i < WAIT_KINDS; i++)
        sum += shares[i] = ShareValue_window(&kinds[i], now);
    for (int i = 0; i < WAIT_KINDS && sum > 0; i++)
        shares[i] *= share / sum;
    return sum > 0;
}

void ShareStill_add(struct ShareStill *still, uint32_t turn, uint64_t age_ns,
                    uint64_t until_ns, uint32_t unit)
{
    if (turn != still->turn) {
        if (turn != still->turn + 1)
            still->found = 0; // The turn before has not found the function.
        Counter_set(&still->age_ns, still->oldest_ns);
        Counter_set(&still->threads, still->found);
        Counter_set(&still->unit, still->oldest_unit);
        still->turn = turn;
        still->found = 0;
        still->oldest_ns = 0;
    }
    still->found++;
    if (age_ns > still->oldest_ns) {
        still->oldest_ns = age_ns;
        still->oldest_unit = unit;
    }
    Counter_set(&still->until_ns, until_ns);
}

uint64_t ShareStill_get(const struct ShareStill *still, uint64_t now_ns,
                        uint64_t *age_ns)
{
    *age_ns = Counter_get(&still->age_ns);
    return now_ns < Counter_get(&still->until_ns) ? Counter_get(&still->threads)
                                                  : 0;
}

void Share_release(struct Share *share)
{
    if (share->parts) {
        Heap_free(Share_parts(share)->callers);
        Heap_free((void *)Share_waits(share));
    }
    Heap_free(share->parts);
    Heap_free((void *)share->instruction_samples);
    Heap_free(share->callees);
}
