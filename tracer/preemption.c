// SPDX-License-Identifier: MIT
// See preemption.h. CLOCK_THREAD_CPUTIME_ID counts to the ns; the times of
// getrusage(2), which lag behind by up to a timer's tick, do not serve.
#define _GNU_SOURCE 1 // RUSAGE_THREAD
#include "tracer/preemption.h"

#include <sys/resource.h>
#include <time.h>

#define DECIDE_NS 100000000 // of wall time, after which it is judged
#define CALM 0.03           // of it, at most, that a calm thread is kept off
#define SPARED 64           // questions, of which two are asked
#define FORGET 8            // answers, in which what is usual goes down
// A clock that stood still is behind by more than drift explains.
#define STOPPED_NS 1000000000

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool read_times(struct ThreadTimes *times)
{
    int64_t begin = now_ns(CLOCK_MONOTONIC);
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return false;
    times->waits = usage.ru_nvcsw;
    times->taken = usage.ru_nivcsw;
    times->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    times->wall_ns = now_ns(CLOCK_MONOTONIC);
    times->reading_ns = times->wall_ns - begin;
    return times->cpu_ns > 0;
}

int64_t Preemption_between(const struct ThreadTimes *then,
                           const struct ThreadTimes *now, int64_t span_ns)
{
    int64_t wall = now->wall_ns - then->wall_ns;
    // What comes while it is asked for is not in the span any more.
    int64_t off = wall - (now->cpu_ns - then->cpu_ns) - now->reading_ns;
    int64_t taken = now->taken - then->taken, before;

    if (now->waits != then->waits || taken <= 0)
        return 0;
    // All but one of the times that the CPU was taken may have been before the
    // span; none of those took longer than nobody asks about.
    before = (taken - 1) * PREEMPTION_BRIEF_NS;
    if (before > wall - span_ns)
        before = wall > span_ns ? wall - span_ns : 0;
    off -= before;
    if (off < PREEMPTION_BRIEF_NS) // or the one was
        return 0;
    return off < span_ns ? off : span_ns;
}

// The same where spans of any length, up to twice the usual, may have passed
// since `then` unasked: what this one has beyond the usual, as far as the
// thread was kept from its CPU at all. Never more than that, so that all its
// spans together are not told less than the CPU time that it had.
static int64_t excess(const struct ThreadTimes *then,
                      const struct ThreadTimes *now, int64_t span_ns,
                      int64_t usual_ns)
{
    int64_t most = span_ns - usual_ns;
    int64_t off = Preemption_between(then, now, span_ns);

    return off < most ? off : most > 0 ? most : 0;
}

// ns in which the thread was kept from its CPU, about. A span in which it
// waited by its own will tells nothing; over a stretch of many, each time that
// it was off its CPU counts the same.
static double kept(const struct ThreadTimes *then,
                   const struct ThreadTimes *now, bool is_span)
{
    int64_t wall = now->wall_ns - then->wall_ns;
    int64_t off = wall - (now->cpu_ns - then->cpu_ns);
    int64_t waits = now->waits - then->waits, taken = now->taken - then->taken;

    if (taken <= 0 || (is_span && waits > 0)) // or they are not counted at all
        return 0;
    if (waits <= 0)
        return (double)off;
    return (double)off * (double)taken / (double)(taken + waits);
}

static void judge(struct Preemption *preemption, const struct ThreadTimes *now,
                  bool is_span)
{
    const struct ThreadTimes *then = &preemption->then;

    preemption->wall_ns += (double)(now->wall_ns - then->wall_ns);
    preemption->kept_ns += kept(then, now, is_span);
    if (preemption->wall_ns < DECIDE_NS &&
        preemption->kept_ns < CALM * DECIDE_NS)
        return;
    preemption->calm = preemption->kept_ns < CALM * preemption->wall_ns;
    preemption->wall_ns = preemption->kept_ns = 0;
}

bool Preemption_is_spared(struct Preemption *preemption, int64_t span_ns)
{
    if (span_ns >= STOPPED_NS)
        return false;
    if (!preemption->calm || span_ns > 2 * preemption->usual_ns ||
        ++preemption->spared % SPARED <= 1)
        return false;
    preemption->known = false;
    return true;
}

int64_t Preemption_take(struct Preemption *preemption, int64_t span_ns)
{
    struct ThreadTimes now = {0};
    bool was_known = preemption->known;
    int64_t result = 0;

    preemption->known = read_times(&now);
    if (preemption->then.wall_ns && preemption->known)
        judge(preemption, &now, was_known);
    if (was_known && preemption->known)
        result = Preemption_between(&preemption->then, &now, span_ns);
    else if (preemption->then.wall_ns && preemption->known)
        result = excess(&preemption->then, &now, span_ns, preemption->usual_ns);
    // The machine was suspended: CLOCK_MONOTONIC stood, the counter did not.
    if (preemption->then.wall_ns && preemption->known) {
        int64_t slept = span_ns - (now.wall_ns - preemption->then.wall_ns);

        if (slept > STOPPED_NS)
            result = slept;
    }
    preemption->usual_ns -= preemption->usual_ns / FORGET;
    if (preemption->usual_ns < span_ns - result)
        preemption->usual_ns = span_ns - result;
    preemption->then = now;
    return result;
}
