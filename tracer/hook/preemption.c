// SPDX-License-Identifier: MIT
// The CPU time of CLOCK_THREAD_CPUTIME_ID is exact to the ns. The CPU times of
// getrusage(2) are not exact enough, because they can be up to one timer tick
// old.
#define _GNU_SOURCE 1 // RUSAGE_THREAD needs _GNU_SOURCE.
#include "tracer/hook/preemption.h"
#include "ipc/base/now.h"

#include <sys/resource.h>
#include <time.h>

// If a reading of the clocks is older than this number of ns, a new one
// replaces it, because interrupts and the hypervisor also take small parts of a
// CPU.
#define OLD_NS 10000000
// If a thread ran for fewer ns than this in a span in which it also waited, the
// span was a wait.
#define WORK_NS 500000
// It is unknown how the thread has spent a span if the kernel's clocks leave
// more than 1/UNSURE of it open.
#define UNSURE 8

static bool read_switches(struct ThreadTimes *times)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return false;
    times->waits = usage.ru_nvcsw;
    times->taken = usage.ru_nivcsw;
    return true;
}

// Reads the clocks. `begin_ns` is the time at which the reading began.
static bool read_clocks(struct ThreadTimes *times, int64_t begin_ns)
{
    times->cpu_ns = (int64_t)Now_ns(CLOCK_THREAD_CPUTIME_ID);
    times->wall_ns = (int64_t)Now_ns(CLOCK_MONOTONIC);
    times->reading_ns = times->wall_ns - begin_ns;
    return times->cpu_ns > 0;
}

// Returns the ns of a span in which other programs had the CPU. The span is
// `span_ns` ns long. `then` was read before the span, and `now` was read at the
// end of the span.
static int64_t taken_between(const struct ThreadTimes *then,
                             const struct ThreadTimes *now, int64_t span_ns)
{
    int64_t wall = now->wall_ns - then->wall_ns;
    // Time in which the thread lost the CPU during the reading does not belong
    // to the interval.
    int64_t off = wall - (now->cpu_ns - then->cpu_ns) - now->reading_ns;
    int64_t taken = now->taken - then->taken, before;

    if (now->waits != then->waits || taken <= 0)
        return 0;
    // Except the last one, all context switches may have happened in earlier
    // intervals that were too short to be checked.
    before = (taken - 1) * PREEMPTION_BRIEF_NS;
    if (before > wall - span_ns)
        before = wall > span_ns ? wall - span_ns : 0;
    off -= before;
    // The last context switch then also happened in an earlier interval.
    if (off < PREEMPTION_BRIEF_NS)
        return 0;
    return off < span_ns ? off : span_ns;
}

// Returns the ns for which the machine was suspended since it was started.
// While the machine is suspended, CLOCK_BOOTTIME continues and CLOCK_MONOTONIC
// stops (clock_gettime(2)). The time stamp counter can continue or stop while
// the machine is suspended.
static int64_t suspended_ns(void)
{
    return (int64_t)(Now_ns(CLOCK_BOOTTIME) - Now_ns(CLOCK_MONOTONIC));
}

// Returns the ns of an interval for which the machine was suspended. Ocular
// checks each interval that is long enough to contain a suspension. If there
// was a suspension since the last check, it was therefore in this interval.
static int64_t take_suspension(struct Preemption *preemption, int64_t span_ns)
{
    int64_t before = preemption->suspended_ns;
    int64_t since;

    if (span_ns < PREEMPTION_STOPPED_NS)
        return 0;
    preemption->suspended_ns = suspended_ns();
    since = preemption->suspended_ns - before;
    if (since < PREEMPTION_STOPPED_NS)
        return 0;
    return since < span_ns ? since : span_ns;
}

void Preemption_init(struct Preemption *preemption)
{
    *preemption = (struct Preemption){.suspended_ns = suspended_ns()};
}

static void note_wait(struct Preemption *preemption, uint32_t site, bool waited)
{
    struct PreemptionPlace *place = Preemption_at(preemption, site);
    unsigned skips = waited ? place->next_skips : 0;
    unsigned next = waited ? 2 * skips + 1 : 0;

    place->skips = (uint8_t)skips;
    place->next_skips =
        (uint8_t)(next < PREEMPTION_SKIPS ? next : PREEMPTION_SKIPS);
}

static int64_t clamp(int64_t value, int64_t most)
{
    return value < 0 ? 0 : value < most ? value : most;
}

// Sets the number of ns for which the thread ran in the span. Before the span,
// and after the reading `then`, the thread ran for an unknown time, but usually
// it waited. If this leaves too much open, sets the least number.
static void note_run(struct Preemption *preemption,
                     const struct ThreadTimes *now, int64_t span_ns)
{
    const struct ThreadTimes *then = &preemption->then;
    int64_t before = now->wall_ns - then->wall_ns - now->reading_ns - span_ns;
    int64_t cpu = now->cpu_ns - then->cpu_ns;
    int64_t most = clamp(cpu, span_ns);

    if (!then->cpu_ns)
        return;
    preemption->ran_ns = clamp(cpu - (before > 0 ? before : 0), span_ns);
    preemption->unsure = most - preemption->ran_ns > span_ns / UNSURE;
    if (!preemption->unsure)
        preemption->ran_ns = most;
}

int64_t Preemption_measure(struct Preemption *preemption, int64_t span_ns,
                           uint32_t site)
{
    struct ThreadTimes now = {0};
    const struct ThreadTimes *then = &preemption->then;
    int64_t result = 0, suspended = take_suspension(preemption, span_ns);
    int64_t begin_ns = (int64_t)Now_ns(CLOCK_MONOTONIC);
    bool was_known = preemption->known;

    preemption->unsure = false;
    preemption->known = read_switches(&now);
    // It takes longest to read the thread's CPU clock. The CPU clock of the
    // thread is read only if the kernel has switched to another thread.
    if (was_known && preemption->known && !preemption->guessed &&
        now.waits == then->waits && now.taken == then->taken &&
        begin_ns - then->wall_ns < OLD_NS) {
        note_wait(preemption, site, false);
        preemption->ran_ns = span_ns - suspended;
        return suspended;
    }
    preemption->known = preemption->known && read_clocks(&now, begin_ns);
    preemption->ran_ns = 0;
    preemption->unsure = true;
    if (preemption->known)
        note_run(preemption, &now, span_ns);
    if (was_known && preemption->known)
        result = taken_between(then, &now, span_ns);
    note_wait(preemption, site,
              now.waits != then->waits && preemption->ran_ns < WORK_NS);
    preemption->then = now;
    preemption->guessed = false;
    return suspended ? suspended : result;
}

bool PreemptionRate_is_high(struct PreemptionRate *rate, double now_s)
{
    double most = PREEMPTION_OFTEN * (now_s - rate->since_s);
    bool first = rate->since_s == 0, high;
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return false;
    high = first || (double)(usage.ru_nivcsw - rate->taken) > most;
    rate->since_s = now_s;
    rate->taken = usage.ru_nivcsw;
    return high;
}
