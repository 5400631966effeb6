// SPDX-License-Identifier: MIT
#include "tracer/sample/event_loops.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"

#include <math.h>
#include <string.h>
#include <time.h>

// Mean age in seconds of the steps (callbacks of an event loop) from which
// rates are computed.
#define WINDOW_S 10.0
// If fewer timers than this have run in the newest seconds, the lag is not
// known. Older timers count less.
#define LEAST_TIMERS 0.1

void EventLoops_init(struct EventLoops *loops)
{
    memset(loops, 0, sizeof *loops);
    pthread_mutex_init(&loops->mutex, NULL);
}

void EventLoops_reset(struct EventLoops *loops, double limit_s, double hz)
{
    for (int i = 0; i < EVENT_LOOPS; i++) {
        Heap_free(loops->loops[i].observed);
        loops->loops[i] = (struct EventLoop){0};
    }
    Heap_free(loops->stalls);
    loops->stalls = NULL;
    Counter_set(&loops->stall_count, 0);
    Counter_set(&loops->taken, 0);
    Counter_set(&loops->switches, 0);
    Counter_set(&loops->hooks, 0);
    loops->count = 0;
    loops->asleep = loops->full = false;
    loops->limit = (uint64_t)(limit_s * hz);
    loops->hz = hz;
}

void EventLoops_after_fork(struct EventLoops *loops)
{
    pthread_mutex_init(&loops->mutex, NULL);
    EventLoops_watch(loops, NULL, NULL);
}

// Returns a new window of time that has no steps yet.
static struct LoopWindow new_window(const struct EventLoops *loops,
                                    const struct EventLoop *loop, double now_s)
{
    return (struct LoopWindow){
        .at_s = now_s,
        .steps = Counter_get(&loop->steps),
        .timers = Counter_get(&loop->timers),
        .late_ns = Counter_get(&loop->late_ns),
        .switches = Counter_get(&loops->switches),
    };
}

static struct EventLoop *find(struct EventLoops *loops, const void *owner)
{
    for (unsigned i = 0; i < loops->count; i++)
        if (loops->loops[i].used && loops->loops[i].owner == owner)
            return &loops->loops[i];
    return NULL;
}

struct EventLoop *EventLoops_take(struct EventLoops *loops, const void *owner,
                                  pid_t tid)
{
    struct EventLoop *loop;
    unsigned i = 0;

    if (atomic_load(&loops->full))
        return NULL;
    pthread_mutex_lock(&loops->mutex);
    loop = find(loops, owner);
    // The thread record belonged to another thread before, which has ended.
    if (loop && loop->tid != tid) {
        atomic_store(&loop->used, false);
        loop = NULL;
    }
    while (!loop && i < EVENT_LOOPS && loops->loops[i].used)
        i++;
    if (!loop && i < EVENT_LOOPS) {
        loop = &loops->loops[i];
        loop->owner = owner;
        loop->tid = tid;
        atomic_store(&loop->began, 0);
        // The sums of the loop's earlier thread are kept, because
        // EventLoops_steps must never decrease.
        loop->first_steps = Counter_get(&loop->steps);
        loop->first_timers = Counter_get(&loop->timers);
        loop->first_late_ns = Counter_get(&loop->late_ns);
        loop->window = new_window(loops, loop, Now_s(CLOCK_MONOTONIC));
        atomic_store(&loop->used, true);
        if (i >= loops->count)
            loops->count = i + 1;
        Counter_add(&loops->taken, 1);
    }
    atomic_store(&loops->full, !loop);
    pthread_mutex_unlock(&loops->mutex);
    return loop;
}

void EventLoops_leave(struct EventLoops *loops, const void *owner)
{
    struct EventLoop *loop;

    if (!loops->count)
        return;
    pthread_mutex_lock(&loops->mutex);
    loop = find(loops, owner);
    if (loop) {
        atomic_store(&loop->used, false);
        atomic_store(&loops->full, false);
    }
    pthread_mutex_unlock(&loops->mutex);
}

static const struct EventLoop *loop_of(const struct EventLoops *loops,
                                       pid_t tid)
{
    for (unsigned i = 0; i < loops->count; i++)
        if (loops->loops[i].used && loops->loops[i].tid == tid)
            return &loops->loops[i];
    return NULL;
}

bool EventLoops_is_idle(struct EventLoops *loops, pid_t tid)
{
    const struct EventLoop *loop;
    bool idle;

    pthread_mutex_lock(&loops->mutex);
    loop = loop_of(loops, tid);
    idle = loop && !EventLoop_began(loop) && !EventLoops_are_off(loops);
    pthread_mutex_unlock(&loops->mutex);
    return idle;
}

uint64_t EventLoops_steps(const struct EventLoops *loops)
{
    uint64_t steps = 0;

    for (unsigned i = 0; i < loops->count; i++)
        steps += Counter_get(&loops->loops[i].steps);
    return steps;
}

void EventLoops_watch(struct EventLoops *loops, void (*wake)(void *sampler),
                      void *sampler)
{
    loops->wake = wake;
    loops->sampler = sampler;
    atomic_store(&loops->asleep, wake != NULL);
}

// --- Stalls ------------------------------------------------------------------

// Returns the entry for a place in the code. If other places use all entries,
// returns the entry with the least time.
static struct StallPlace *entry_of(struct ObservedStep *observed,
                                   const struct StallPlace *place)
{
    struct StallPlace *least = &observed->places[0];

    for (unsigned i = 0; i < observed->count; i++) {
        struct StallPlace *each = &observed->places[i];

        if (each->function == place->function && each->line == place->line) {
            if (each->torn && !place->torn) {
                uint64_t ticks = each->ticks;

                *each = *place;
                each->ticks = ticks;
            }
            return each;
        }
        if (each->ticks < least->ticks)
            least = each;
    }
    if (observed->count < STALL_PLACES)
        least = &observed->places[observed->count++];
    *least = *place;
    least->ticks = 0;
    return least;
}

void EventLoops_observe(struct EventLoops *loops, struct EventLoop *loop,
                        uint64_t step, uint64_t ticks,
                        const struct StallPlace *place)
{
    struct ObservedStep *observed;

    pthread_mutex_lock(&loops->mutex);
    if (!loop->observed)
        loop->observed = Heap_zeroed(1, sizeof *loop->observed);
    observed = loop->observed;
    if (observed && observed->step != step) {
        observed->step = step;
        observed->count = 0;
        observed->last = EventLoop_began(loop);
    }
    if (observed && observed->last && ticks > observed->last) {
        entry_of(observed, place)->ticks += ticks - observed->last;
        observed->last = ticks;
    }
    pthread_mutex_unlock(&loops->mutex);
}

static const struct StallPlace *hottest(const struct ObservedStep *observed)
{
    const struct StallPlace *most = &observed->places[0];

    for (unsigned i = 1; i < observed->count; i++)
        if (observed->places[i].ticks > most->ticks)
            most = &observed->places[i];
    return most;
}

// Adds a stall to the log. Returns NULL if there is no memory for the log.
static struct Stall *append(struct EventLoops *loops, const struct Stall *stall)
{
    struct Stall *kept;

    if (!loops->stalls)
        loops->stalls = Heap_zeroed(STALLS, sizeof *loops->stalls);
    if (!loops->stalls)
        return NULL;
    kept = &loops->stalls[Counter_get(&loops->stall_count) % STALLS];
    Counter_add(&loops->stall_count, 1);
    *kept = *stall;
    return kept;
}

void EventLoops_stall(struct EventLoops *loops, const struct EventLoop *loop,
                      const struct Stall *stall)
{
    const struct ObservedStep *observed = loop->observed;
    struct Stall *kept;

    pthread_mutex_lock(&loops->mutex);
    kept = append(loops, stall);
    if (kept && observed && observed->count &&
        observed->step == Counter_get(&loop->steps))
        kept->place = *hottest(observed);
    pthread_mutex_unlock(&loops->mutex);
}

uint64_t EventLoops_hold(struct EventLoops *loops, uint64_t number,
                         const struct Stall *stall)
{
    pthread_mutex_lock(&loops->mutex);
    if (number) {
        if (number + STALLS > Counter_get(&loops->stall_count))
            loops->stalls[(number - 1) % STALLS].ended = stall->ended;
    } else if (!loop_of(loops, stall->tid) && append(loops, stall)) {
        number = Counter_get(&loops->stall_count);
    }
    pthread_mutex_unlock(&loops->mutex);
    return number;
}

// --- Rates -------------------------------------------------------------------

void EventLoops_switch(struct EventLoops *loops)
{
    Counter_add(&loops->switches, 1);
    for (unsigned i = 0; i < loops->count; i++)
        atomic_store(&loops->loops[i].began, 0);
}

struct LoopRates EventLoop_rates(const struct EventLoops *loops,
                                 struct EventLoop *loop, double now_s)
{
    struct LoopWindow *window = &loop->window;
    double s = fmax(now_s - window->at_s, 0);
    double kept = exp(-s / WINDOW_S), all = WINDOW_S * (1 - kept);
    // The steps since the last call of EventLoop_rates are treated as if they
    // were spread evenly over the time since then.
    double part = s > 0 ? all / s : 0;
    uint64_t steps = Counter_get(&loop->steps);
    uint64_t timers = Counter_get(&loop->timers);
    uint64_t late_ns = Counter_get(&loop->late_ns);

    if (window->switches != Counter_get(&loops->switches) ||
        EventLoops_are_off(loops)) {
        *window = new_window(loops, loop, now_s);
        return (struct LoopRates){NAN, NAN};
    }
    window->s = window->s * kept + all;
    window->step_sum =
        window->step_sum * kept + part * (double)(steps - window->steps);
    window->timer_sum =
        window->timer_sum * kept + part * (double)(timers - window->timers);
    window->late_sum = window->late_sum * kept +
                       part * 1e-9 * (double)(late_ns - window->late_ns);
    window->at_s = now_s;
    window->steps = steps;
    window->timers = timers;
    window->late_ns = late_ns;
    return (struct LoopRates){
        .steps_per_s = window->s > 0 ? window->step_sum / window->s : NAN,
        .lag_s = window->timer_sum > LEAST_TIMERS
                     ? window->late_sum / window->timer_sum
                     : NAN,
    };
}
