// SPDX-License-Identifier: MIT
#include "tracer/sample/samples.h"
#include "ipc/base/now.h"

#include <string.h>

// Returns true if the C functions of the sample can be used. A walk that has
// missed CPython's evaluation loop contains too many C functions if there are
// Python functions on the stack, because it also went through their callers.
static bool has_natives(const struct SampleHead *head)
{
    return head->native_end &&
           (head->native_end != NATIVE_THREAD || !head->depth);
}

static void take_sample(struct Samples *samples, struct SampledThread *thread,
                        const struct SampleHead *head,
                        const struct ShareTime *now)
{
    struct SampledStack *stack = &samples->stack;
    struct Attribution *attribution = &samples->sampling->attribution;

    Counter_add(&samples->sampling->samples, 1);
    Counter_add(&samples->unknown, (head->flags & SAMPLE_TORN) != 0);
    Counter_add(&samples->truncated, (head->flags & SAMPLE_TRUNCATED) != 0);
    if (head->flags & SAMPLE_OURS) {
        Counter_add(&samples->ours, 1);
        Counter_add(&samples->ours_ns, head->cpu_ns);
    }
    stack->tid = thread->tid;
    stack->newest_id = head->newest_id;
    stack->ticks = head->ticks;
    stack->depth = stack->walked = head->depth;
    memcpy(stack->roots, head->roots, sizeof stack->roots);
    stack->tag = head->tag;
    // A thread that has been asked for the GIL and keeps it begins no call. A
    // tag of a caller says less than that.
    if ((!stack->tag.value || stack->tag.frame) && head->flags & SAMPLE_HOLDS &&
        thread->gil.holds && head->switches == thread->gil.switches)
        stack->tag = (struct WalkTag){0, 1};
    stack->still_until_ns = samples->sampling->stepped_ns + STEP_MOST_NS;
    stack->cut = head->flags & (SAMPLE_TORN | SAMPLE_TRUNCATED);
    Attribution_judge(attribution, stack, head->flags & SAMPLE_ACTIVE);
    if (head->depth)
        Native_note(&samples->sampling->native, head->native_end);
    attribution->natives = samples->natives;
    attribution->native_count =
        has_natives(head) ? Native_resolve(&samples->sampling->native,
                                           samples->pcs, head->native_depth,
                                           head->native_end, samples->natives)
                          : 0;
    Sampling_attribute(samples->sampling, thread, stack, now,
                       (double)head->cpu_ns, 0);
    attribution->native_count = 0;
    if (head->flags & SAMPLE_HOLDS)
        GilWatch_hold(&samples->sampling->gil, &thread->gil, now,
                      (double)head->cpu_ns);
    GilWatch_note(&samples->sampling->gil, thread,
                  &(struct GilMoment){head->ticks, head->switches, stack, 1},
                  (head->flags & SAMPLE_REQUESTED) != 0);
}

// Adds up what the thread's signal handlers have cost since the last call.
static void take_costs(struct Samples *samples, struct CpuTimer *timer)
{
    uint64_t taken = Counter_get(&timer->taken);
    uint64_t handler_ticks = Counter_get(&timer->handler_ticks);
    uint64_t lost = Counter_get(&timer->ring.lost);

    Counter_add(&samples->taken, taken - timer->seen_taken);
    Counter_add(&samples->handler_ticks, handler_ticks - timer->seen_ticks);
    Counter_add(&samples->lost, lost - timer->seen_lost);
    timer->seen_taken = taken;
    timer->seen_ticks = handler_ticks;
    timer->seen_lost = lost;
}

void Samples_take_begun(struct Samples *samples)
{
    struct CpuTimers *timers = &samples->sampling->timers;
    struct CpuTimer *timer = CpuTimers_take_begun(timers), *next;

    for (; timer; timer = next) {
        next = timer->next;
        // The sampler may have given up the timer's signal since the timer was
        // made.
        if (timer->signal != timers->signal ||
            !SampledThreads_begin(&samples->sampling->threads, timer))
            CpuTimer_free(timer);
    }
    Starts_step(&samples->starts, samples->sampling->stepped_ns);
}

static void free_timers(struct Samples *samples)
{
    const struct SampledThreadTable *table;

    Samples_take_begun(samples);
    table = samples->sampling->threads.table;
    for (size_t i = 0; i < table->count; i++)
        SampledThread_drop_timer(table->threads[i]);
}

static void note_signal(struct Samples *samples)
{
    Counter_set(&samples->signal_used,
                (uint64_t)samples->sampling->timers.signal);
    Counter_set(&samples->error, (uint64_t)-samples->sampling->timers.error);
}

// If the program has replaced the signal's handler, timers start again with
// another signal. Timers also start again if the program has begun to filter
// system calls, so that the signal handler can no longer check whether pages
// are readable. If the handler cannot check pages, the new start fails, and
// there are no timers any more.
static void check_timers(struct Samples *samples, bool unread)
{
    struct CpuTimers *timers = &samples->sampling->timers;

    if (CpuTimers_lost_signal(timers) ||
        (unread && !Memory_is_readable((uintptr_t)timers))) {
        free_timers(samples);
        CpuTimers_close(timers);
        CpuTimers_open(timers, samples->signal);
    }
    note_signal(samples);
}

static uint64_t count_of(const struct SampledThread *thread)
{
    const struct CpuTimer *timer = thread->timer;

    return timer ? Counter_get(&timer->taken) - timer->seen_taken : 0;
}

uint64_t Samples_waiting(const struct Samples *samples)
{
    const struct SampledThreadTable *table = samples->sampling->threads.table;
    uint64_t count = 0;

    for (size_t i = 0; i < table->count; i++)
        count += count_of(table->threads[i]);
    return count;
}

// Collects the samples of one thread. Returns true if there was a sample for
// which no frame of the stack could be read.
static bool collect_from(struct Samples *samples, struct SampledThread *thread,
                         const struct ShareTime *now)
{
    struct SampleHead head;
    bool unread = false;

    if (!thread->timer)
        return false;
    while (SampleRing_pop(&thread->timer->ring, &head, samples->stack.frames,
                          samples->pcs)) {
        unread |= (head.flags & SAMPLE_UNREAD) != 0;
        take_sample(samples, thread, &head, now);
    }
    take_costs(samples, thread->timer);
    return unread;
}

void Samples_collect(struct Samples *samples, const struct ShareTime *now)
{
    const struct SampledThreadTable *table = samples->sampling->threads.table;
    uint64_t ticks = Clock_read(samples->sampling->timers.clock);
    bool unread = false;

    for (size_t i = 0; i < table->count; i++) {
        struct SampledThread *thread = table->threads[i];

        // The thread's CPU clock is read before its samples are collected. If
        // the clock shows that the thread has ended, no sample can come after
        // this.
        if (!thread->listed)
            thread->gone =
                !Sampling_ns(samples->sampling, Now_clock_of(thread->tid));
        unread |= collect_from(samples, thread, now);
    }
    Counter_set(&samples->collected, ticks);
    check_timers(samples, unread);
}

void Samples_open(struct Samples *samples, struct Sampling *sampling,
                  int signal)
{
    samples->sampling = sampling;
    samples->signal = signal;
    Starts_init(&samples->starts);
    if (signal >= 0)
        CpuTimers_open(&sampling->timers, signal);
    note_signal(samples);
}

void Samples_close(struct Samples *samples)
{
    free_timers(samples);
    CpuTimers_close(&samples->sampling->timers);
}
