// SPDX-License-Identifier: MIT
// See preemption.h. CLOCK_THREAD_CPUTIME_ID counts to the ns; the times of
// getrusage(2), which lag behind by up to a timer's tick, do not serve.
#define _GNU_SOURCE 1 // RUSAGE_THREAD
#include "tracer/preemption.h"
#include "ipc/now.h"

#include <sys/resource.h>
#include <time.h>

#define DECIDE_NS 100000000 // of wall time, after which it is judged
#define CALM 0.03           // of it, at most, that a calm thread is kept off
#define SPARED 64           // questions, of which two are asked
#define FORGET 8            // answers, in which what is usual goes down
#define STEP_NS 1000        // ... and a step up, at least
#define USUAL_NS 10000000   // at most: spans of more than twice that are asked
#define DRIFT 0.0005        // of one clock against the other (adjtime(2))
#define STOLEN_NS 1000000   // at once, at least: interrupts take less
// A clock that stood still is behind by more than drift explains.
#define STOPPED_NS 1000000000

static bool read_times(struct ThreadTimes *times)
{
    int64_t begin = (int64_t)Now_ns(CLOCK_MONOTONIC);
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return false;
    times->waits = usage.ru_nvcsw;
    times->taken = usage.ru_nivcsw;
    times->cpu_ns = (int64_t)Now_ns(CLOCK_THREAD_CPUTIME_ID);
    times->wall_ns = (int64_t)Now_ns(CLOCK_MONOTONIC);
    times->reading_ns = times->wall_ns - begin;
    return times->cpu_ns > 0;
}

// Whether the thread was off its CPU by no switch of its own kernel: what a
// hypervisor gave to others, or interrupts had, is in no thread's CPU time
// where the kernel accounts for it (Linux, kernel/sched/core.c,
// update_rq_clock_task). Where it counts no such switches at all, who knows?
static bool was_stolen(const struct ThreadTimes *then,
                       const struct ThreadTimes *now)
{
    return now->waits == then->waits && now->taken == then->taken &&
           now->taken > 0;
}

int64_t Preemption_between(const struct ThreadTimes *then,
                           const struct ThreadTimes *now, int64_t span_ns,
                           int64_t brief_ns)
{
    int64_t wall = now->wall_ns - then->wall_ns;
    // What comes while it is asked for is not in the span any more.
    int64_t off = wall - (now->cpu_ns - then->cpu_ns) - now->reading_ns;
    int64_t taken = now->taken - then->taken, before;

    if (was_stolen(then, now)) {
        // Interrupts had a little of all that was before.
        before = wall > span_ns ? wall - span_ns : 0;
        off -= (int64_t)(DRIFT * (double)wall + CALM * (double)before);
        return off < STOLEN_NS ? 0 : off < span_ns ? off : span_ns;
    }
    if (now->waits != then->waits || taken <= 0)
        return 0;
    // All but one of the times that the CPU was taken may have been before the
    // span; none of those took longer than nobody asks about.
    before = (taken - 1) * brief_ns;
    if (before > wall - span_ns)
        before = wall > span_ns ? wall - span_ns : 0;
    off -= before;
    if (off < brief_ns) // or the one was
        return 0;
    return off < span_ns ? off : span_ns;
}

// The same where spans of up to twice the usual may have passed since `then`
// unasked, in which a calm thread, too, was kept from its CPU now and then: no
// more than what is unusual about this one.
static int64_t unusual(const struct Preemption *preemption,
                       const struct ThreadTimes *now, int64_t span_ns)
{
    const struct ThreadTimes *then = &preemption->then;
    int64_t brief = 2 * preemption->usual_ns, off;
    double before = (double)(now->wall_ns - then->wall_ns - span_ns);

    if (brief < PREEMPTION_BRIEF_NS)
        brief = PREEMPTION_BRIEF_NS;
    off = Preemption_between(then, now, span_ns, brief);
    if (before > 0 && !was_stolen(then, now)) // of that it is off already
        off -= (int64_t)(CALM * before);
    if (off > span_ns - preemption->usual_ns)
        off = span_ns - preemption->usual_ns;
    return off > 0 ? off : 0;
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

    if (was_stolen(then, now))
        return off > 0 ? (double)off : 0;
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

// How long the thread's spans are that it works in. One with a wait in it may
// be no work: what is usual follows those in small steps. One that is asked
// about anyway teaches nothing: most are those in which all is dark, after
// which calls of a microsecond are timed, and what others took of one is not
// usual.
static void learn(struct Preemption *preemption, const struct ThreadTimes *now,
                  int64_t work_ns)
{
    int64_t usual = preemption->usual_ns, step = usual / FORGET;
    bool waited = now->waits != preemption->then.waits;

    if (work_ns > 2 * USUAL_NS)
        return;
    if (work_ns > USUAL_NS)
        work_ns = USUAL_NS;
    if (!waited)
        usual -= step;
    else if (preemption->then.wall_ns && work_ns > usual + step + STEP_NS)
        work_ns = usual + step + STEP_NS;
    preemption->usual_ns = work_ns > usual ? work_ns : usual;
}

int64_t Preemption_take(struct Preemption *preemption, int64_t span_ns)
{
    struct ThreadTimes now = {0};
    const struct ThreadTimes *then = &preemption->then;
    bool was_known = preemption->known;
    int64_t result = 0;

    preemption->known = read_times(&now);
    if (then->wall_ns && preemption->known) {
        judge(preemption, &now, was_known);
        result = was_known ? Preemption_between(then, &now, span_ns,
                                                PREEMPTION_BRIEF_NS)
                           : unusual(preemption, &now, span_ns);
        // The machine was suspended: CLOCK_MONOTONIC stood, the counter did
        // not.
        if (span_ns - (now.wall_ns - then->wall_ns) > STOPPED_NS)
            result = span_ns - (now.wall_ns - then->wall_ns);
    }
    learn(preemption, &now, span_ns - result);
    preemption->then = now;
    return result;
}
