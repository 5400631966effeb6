// SPDX-License-Identifier: MIT
#include "tracer/sample/observer.h"

#include <string.h>

// Largest number of threads that the sampler observes in one step.
#define BATCH 256
// If all reads of stacks have failed for this number of ns, stacks count as
// unreadable.
#define REFUSED_NS 3e9
// If a thread has not run for this number of ns, its calls count as calls in
// flight even if no hook has seen them begin.
#define STILL_NS 5e8

static void walk(struct Observer *observer, struct SampledThread *thread)
{
    struct SampledStack *stack = &thread->stack;
    struct Walk *walk = &observer->walk;

    // The registry's newest id is read before the stack. A code object that is
    // later allocated at an address on the stack therefore has a newer id.
    // Because of its newer id, the registry does not confuse the newer code
    // object with the one on the stack.
    stack->newest_id =
        Registry_newest_id(observer->sampling->attribution.registry);
    stack->ticks = UINT64_MAX;
    thread->start.state = thread->state;
    Walk_other(walk, &thread->start);
    observer->refused =
        walk->torn && !Memory_recover(&observer->sampling->memory);
    stack->cut = walk->torn || walk->truncated;
    stack->wait_kind = WAIT_UNKNOWN;
    stack->depth = stack->walked = walk->depth;
    memcpy(stack->roots, walk->roots, sizeof stack->roots);
    stack->tag = walk->tag;
    memcpy(stack->frames, walk->frames, walk->depth * sizeof(walk->frames[0]));
    Attribution_judge(&observer->sampling->attribution, stack,
                      thread->start.active);
    thread->walked = true;
}

static void note_untimed(struct Observer *observer,
                         struct SampledThread *thread)
{
    if (thread->untimed)
        return;
    thread->untimed = true;
    Counter_add(&observer->untimed, 1);
}

static bool is_timed(const struct SampledThread *thread)
{
    return thread->timer && thread->timer->interval_ns;
}

static void set_timer(struct Observer *observer, struct SampledThread *thread)
{
    struct CpuTimers *timers = &observer->sampling->timers;
    uint64_t period_ns = Sampling_period_ns(observer->sampling);
    uint64_t refused = timers->refused;

    if (!thread->timer)
        thread->timer = CpuTimer_new(timers, thread->state, thread->tid);
    else if (SampledThread_lacks_sample(thread,
                                        2 * period_ns + timers->tick_ns))
        Mute_read(&thread->timer->mute, thread->tid, thread->timer->signal);
    if (thread->timer)
        CpuTimer_set(thread->timer, period_ns);
    if (thread->timer ? !is_timed(thread) : timers->refused > refused)
        note_untimed(observer, thread);
}

// Notes whether the thread's calls stay where they are. All threads are
// observed in `steps` steps, or the observation does not count if `steps` is 0.
static void note_still(struct SampledThread *thread, bool running, size_t steps)
{
    struct SampledStack *stack = &thread->stack;
    bool still = steps && !running && thread->still_ns > STILL_NS;

    stack->still_ns = still ? (uint64_t)thread->still_ns : 0;
    stack->still_until_ns = thread->wall_ns + (steps + !steps) * STEP_MOST_NS;
}

// Attributes the thread's waiting time since its last observation to the
// functions on its stack. If the thread is running, only the time of waiting
// for a CPU is attributed now, and the other waiting time by a later
// observation. Returns true if the thread has run since its last observation.
static bool observe(struct Observer *observer, size_t place,
                    const struct ShareTime *now, double first_ns, size_t steps)
{
    struct SampledThread *thread =
        observer->sampling->threads.table->threads[place];
    struct GilWatch *gil = &observer->sampling->gil;
    enum Observation seen;
    double cpu_ns, wait_ns;
    bool on_cpu = false, running = false;

    // The registry may have got the code of a thread that sleeps on. This is
    // usual soon after the start of tracing.
    if (Attribution_can_find_more(&observer->sampling->attribution,
                                  &thread->stack))
        thread->walked = false;
    seen = SampledThread_observe(thread, &observer->sampling->clock, now,
                                 first_ns);
    wait_ns = thread->wait_ns;
    if (seen == OBSERVED_GONE)
        return false;
    if (thread->listed)
        set_timer(observer, thread);
    if (seen != OBSERVED_IDLE) {
        walk(observer, thread);
        // A thread that holds the GIL counts as running even if it is off the
        // CPU, because the sampler's own thread may have taken the CPU from it.
        on_cpu = SampledThread_is_running(thread, &observer->sampling->clock);
        running = on_cpu || thread->start.active;
    }
    if (seen == OBSERVED_NEW && running)
        SampledThread_forget_waits(thread);
    cpu_ns = (double)SampledThread_overdue_ns(thread, running);
    if (cpu_ns > 0) {
        SampledThread_account(thread);
        Counter_add(&observer->sampling->samples, 1);
        observer->found++;
        if (thread->start.active)
            GilWatch_hold(gil, &thread->gil, now, cpu_ns);
    }
    GilWatch_observe(gil, place, on_cpu, now);
    if (running)
        wait_ns = GilWatch_take_starved(thread);
    else
        thread->wait_ns = 0;
    thread->stack.idle = SampledThread_is_idle(thread);
    note_still(thread, running, steps);
    Attribution_settle_wait(&observer->sampling->attribution, &thread->stack,
                            now, thread->still_ns);
    Sampling_attribute(observer->sampling, thread, &thread->stack, now, cpu_ns,
                       wait_ns);
    return thread->ran || seen == OBSERVED_NEW;
}

bool Observer_observe_all(struct Observer *observer, size_t first,
                          const struct ShareTime *now)
{
    const struct SampledThreadTable *table = observer->sampling->threads.table;
    size_t turns = table->count < BATCH ? table->count : BATCH;
    // Number of steps in which all threads are observed.
    size_t steps = turns ? (table->count + turns - 1) / turns : 0;
    // True if this step of the observer does not reach all threads.
    bool others = table->count > turns;
    bool timed = false, untimed = false;
    double first_ns = (double)observer->sampling->step_ns;

    observer->sampling->attribution.turn += !others;
    if (turns)
        first_ns *= (double)table->count / (double)turns;
    for (size_t i = 0; i <= turns; i++) {
        size_t place = i ? observer->next++ % table->count : first;
        bool ran;

        observer->sampling->attribution.turn += others && i && place == 0;
        if (place >= table->count || (i && place == first))
            continue;
        // The thread at `first` is perhaps observed twice in the same turn.
        ran = observe(observer, place, now, first_ns, i || !others ? steps : 0);
        timed |= ran && is_timed(table->threads[place]);
        untimed |= ran && !is_timed(table->threads[place]);
    }
    observer->alone = untimed && !timed;
    return timed || untimed || others;
}

// --- Where nothing can be read -----------------------------------------------

// If memory is read through /proc/self/mem and the program has closed the
// descriptor of that file, Memory_keep opens the file again after some time.
void Observer_note_reads(struct Observer *observer, uint64_t now_ns)
{
    if (!observer->refused)
        observer->readable_ns = now_ns;
    else if ((double)(now_ns - observer->readable_ns) > REFUSED_NS)
        Counter_set(&observer->denied,
                    !Memory_recover(&observer->sampling->memory));
}

bool Observer_recover(struct Observer *observer, uint64_t now_ns)
{
    const struct SampledThreadTable *table = observer->sampling->threads.table;

    if (!Memory_recover(&observer->sampling->memory))
        return false;
    for (size_t i = 0; i < table->count; i++)
        SampledThread_forget(table->threads[i]);
    observer->readable_ns = now_ns;
    observer->refused = false;
    Counter_set(&observer->denied, 0);
    return true;
}

bool Observer_is_denied(const struct Observer *observer)
{
    return Counter_get(&observer->denied);
}

int Observer_init(struct Observer *observer, struct Sampling *sampling,
                  const struct FrameLayout *layout)
{
    observer->sampling = sampling;
    observer->copies.memory = &sampling->memory;
    observer->readable_ns = sampling->stepped_ns;
    return Walk_init(&observer->walk, layout, &observer->copies);
}
