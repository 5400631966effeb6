// SPDX-License-Identifier: MIT
// See interruption.h. The thread that measures spins, reading the clock, and a
// second one on the same CPU wakes up again and again. What the first one is
// charged with for that time, less the time in which it spun, is what the
// wake-up has cost it.
#define _GNU_SOURCE 1 // CPU affinity
#include "tracer/interruption.h"
#include "ipc/now.h"
#include "ipc/worker.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#define WANTED 11        // wake-ups that are measured
#define PAUSE_NS 100000  // between two of them
#define LEAST_GAP 2000   // ns in which the clock was not read: interrupted
#define MOST_NS 50000000 // in all
#define STACK_BYTES (64u << 10)
#define FIRST_NS 3e9 // see InterruptionPlan_is_due
#define AGAIN_NS 10e9
#define RARELY_NS 600e9
#define AGAIN_WAKEUPS 1000
// The first 3 s at the sampler's greatest rate: what came in an hour in which
// it could not be measured is not billed in one moment.
#define MOST_UNPRICED 1500

// The thread that wakes up.
struct Waker {
    struct Worker worker;
    bool pinned; // to
    cpu_set_t cpu;
    atomic_uint woken;
    atomic_bool stop;
};

static void wake(void *context)
{
    struct Waker *waker = context;
    const struct timespec pause = {0, PAUSE_NS};

    if (waker->pinned)
        sched_setaffinity(0, sizeof waker->cpu, &waker->cpu);
    Worker_take_short_turns();
    // Both pair with spin().
    while (!atomic_load_explicit(&waker->stop, memory_order_relaxed)) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        atomic_fetch_add_explicit(&waker->woken, 1, memory_order_release);
    }
}

// ns that the calling thread is charged with and did not spin, for each
// wake-up that came alone. Returns their number.
static size_t spin(struct Waker *waker, int64_t lost[WANTED])
{
    int64_t began = (int64_t)Now_ns(CLOCK_MONOTONIC), newest = began, spun = 0;
    int64_t charged = (int64_t)Now_ns(CLOCK_THREAD_CPUTIME_ID);
    unsigned seen = 0, gaps = 0;
    size_t count = 0;

    while (count < WANTED && newest - began < MOST_NS) {
        // Before the clock: a wake-up that is seen has its gap behind it.
        unsigned woken =
            atomic_load_explicit(&waker->woken, memory_order_acquire);
        int64_t now = (int64_t)Now_ns(CLOCK_MONOTONIC), step = now - newest;

        newest = now;
        if (step < LEAST_GAP)
            spun += step;
        else
            gaps++;
        if (woken == seen)
            continue;
        now = (int64_t)Now_ns(CLOCK_THREAD_CPUTIME_ID);
        if (gaps == 1) // however long: what others did in it is their charge
            lost[count++] = now - charged - spun;
        seen = woken;
        charged = now;
        newest = (int64_t)Now_ns(CLOCK_MONOTONIC);
        spun = 0;
        gaps = 0;
    }
    return count;
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

// The calling thread and the waker, to the CPU that it is on. Not where system
// calls are filtered: one that a service does not expect of itself may be its
// end. Then only a thread that has one CPU anyway is measured.
static bool pin(struct Waker *waker, cpu_set_t *before)
{
    int cpu = sched_getcpu();

    if (cpu < 0 || cpu >= CPU_SETSIZE || prctl(PR_GET_SECCOMP) != 0 ||
        sched_getaffinity(0, sizeof *before, before) != 0)
        return false;
    CPU_ZERO(&waker->cpu);
    CPU_SET((unsigned)cpu, &waker->cpu);
    return sched_setaffinity(0, sizeof waker->cpu, &waker->cpu) == 0;
}

// A thread of such a class is not interrupted by its own kind: nothing would be
// measured, and nothing else would run until that was given up. Ours have the
// program's class.
static bool is_real_time(void)
{
    int policy = sched_getscheduler(0);

    return policy == SCHED_FIFO || policy == SCHED_RR;
}

double Interruption_measure(uint64_t *cpu_ns)
{
    struct Waker waker = {.woken = 0};
    int64_t lost[WANTED];
    size_t count = 0;
    cpu_set_t before;

    *cpu_ns = 0;
    if (prctl(PR_GET_SECCOMP) == 0 && is_real_time())
        return 0;
    waker.pinned = pin(&waker, &before);
    // The waker would take another CPU, and nothing be measured.
    if (!waker.pinned && (sched_getaffinity(0, sizeof before, &before) != 0 ||
                          CPU_COUNT(&before) > 1))
        return 0;
    if (Worker_start(&waker.worker, "ocular-measure", wake, &waker,
                     STACK_BYTES) == 0) {
        count = spin(&waker, lost);
        atomic_store_explicit(&waker.stop, true, memory_order_relaxed);
        Worker_join(&waker.worker);
        *cpu_ns = Worker_cpu_ns(&waker.worker);
    }
    if (waker.pinned)
        sched_setaffinity(0, sizeof before, &before);
    if (count < WANTED / 2)
        return 0;
    qsort(lost, count, sizeof *lost, compare);
    return lost[count / 2] > 0 ? (double)lost[count / 2] * 1e-9 : 0;
}

// --- When ------------------------------------------------------------------

bool InterruptionPlan_is_due(const struct InterruptionPlan *plan, double now_ns,
                             uint64_t wakeups)
{
    if (plan->measured_ns == 0)
        return now_ns >= FIRST_NS;
    return now_ns - plan->measured_ns >= plan->pause_ns &&
           wakeups - plan->measured >= AGAIN_WAKEUPS;
}

void InterruptionPlan_done(struct InterruptionPlan *plan, double now_ns,
                           uint64_t wakeups, bool known)
{
    bool again = !known && plan->pause_ns > 0;

    plan->pause_ns = again ? fmin(2 * plan->pause_ns, RARELY_NS) : AGAIN_NS;
    plan->measured_ns = now_ns;
    plan->measured = wakeups;
}

// --- Counting --------------------------------------------------------------

void Interruptions_init(struct Interruptions *all,
                        const struct InterruptionCounts *counts)
{
    *all = (struct Interruptions){.last = *counts};
}

void Interruptions_read(struct Interruptions *all,
                        const struct InterruptionCounts *counts, double each_s)
{
    uint64_t switches = counts->switches - all->last.switches;
    uint64_t wakeups = counts->wakeups - all->last.wakeups;

    all->unpriced += (switches < wakeups ? switches : wakeups) +
                     counts->forced - all->last.forced;
    if (all->unpriced > MOST_UNPRICED && each_s <= 0)
        all->unpriced = MOST_UNPRICED;
    all->last = *counts;
    if (each_s > 0) {
        all->cost_s += (double)all->unpriced * each_s;
        all->unpriced = 0;
    }
}
