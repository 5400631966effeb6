// SPDX-License-Identifier: MIT
// A timer's signal contains the number and the generation of a slot, and no
// pointer to the timer. A thread that has blocked the signal may get it long
// after the timer was deleted, and the handler must not use the freed memory of
// the timer. The slots of timers are never freed. A slot is busy while a signal
// handler uses it, and the timer of a busy slot is not freed.
#define _GNU_SOURCE 1 // Declares SIGEV_THREAD_ID and REG_RIP.
#include "tracer/sample/cpu_timer.h"

#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/base/clock.h"
#include "tracer/base/own_text.h"
#include "tracer/base/tsc_guard.h"
#include "tracer/sample/gil.h"
#include "tracer/sample/main_signals.h"
#include "tracer/sample/timer_slot.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define CLOSE_MS 1000
// Largest number of seconds that count as the cost of one sample.
#define MOST_S 200e-6

// --- The handler -------------------------------------------------------------

// Returns the address at which the signal interrupted the thread, or 0. Sets
// the registers with which a walk over C functions begins.
static uintptr_t interrupted(const void *context, struct NativeWalk *native)
{
    const ucontext_t *thread = context;

#if defined(__x86_64__)
    native->pc = (uintptr_t)thread->uc_mcontext.gregs[REG_RIP];
    native->sp = (uintptr_t)thread->uc_mcontext.gregs[REG_RSP];
    native->bp = (uintptr_t)thread->uc_mcontext.gregs[REG_RBP];
    return native->pc;
#elif defined(__aarch64__)
    (void)native; // Only x86-64 has walks over C functions (native_stacks.c).
    return (uintptr_t)thread->uc_mcontext.pc;
#else
    (void)native;
    (void)thread;
    return 0;
#endif
}

static uint8_t flags_of(const struct CpuTimer *timer, uintptr_t counter)
{
    uint8_t flags = 0;

    if (timer->walk.torn)
        flags |= SAMPLE_TORN;
    if (timer->walk.truncated)
        flags |= SAMPLE_TRUNCATED;
    if (timer->start.active)
        flags |= SAMPLE_ACTIVE;
    if (!timer->start.read)
        flags |= SAMPLE_UNREAD;
    if (OwnText_holds(counter))
        flags |= SAMPLE_OURS;
    return flags;
}

// Stores in the sample whether the calling thread has the GIL.
static void see_gil(const struct Gil *gil, uintptr_t state,
                    struct SampleHead *head)
{
    if (!gil || !state || Gil_holder(gil) != state)
        return;
    head->flags |= SAMPLE_HOLDS;
    head->switches = Gil_switches(gil);
    if (Gil_is_requested(gil, state))
        head->flags |= SAMPLE_REQUESTED;
}

// Walks over the C functions on the stack, unless the signal interrupted
// Ocular's own code.
static void walk_natives(struct CpuTimer *timer, struct SampleHead *head)
{
    struct NativeTable *const _Atomic *natives = timer->timers->natives;
    // Native_step frees an old table only after the signal handlers that have
    // loaded it have ended.
    const struct NativeTable *table = natives ? atomic_load(natives) : NULL;

    if (!table || !timer->native.pc || head->flags & SAMPLE_OURS)
        return;
    NativeTable_walk(table, &timer->native);
    head->native_depth = (uint8_t)timer->native.depth;
    head->native_end = (uint8_t)timer->native.end;
}

static uint64_t weight(struct CpuTimer *timer, uint64_t cpu_ns)
{
    uint64_t first_ns = timer->first_ns;

    timer->first_ns = 0;
    return (first_ns ? first_ns : cpu_ns) *
           atomic_load_explicit(&timer->represents, memory_order_relaxed);
}

void CpuTimer_sample(struct CpuTimer *timer, uint64_t now_ns, uintptr_t counter)
{
    const struct CpuTimers *timers = timer->timers;
    uint64_t before_ns = CpuTimer_covered_ns(timer);
    struct SampleHead head = {
        .cpu_ns = weight(timer, now_ns > before_ns ? now_ns - before_ns : 0),
        .ticks = Clock_read(timers->clock),
        // SampleHead.newest_id must be read before the stack.
        .newest_id = Registry_newest_id(timers->registry),
    };
    uint64_t took;

    timer->start.state =
        timers->layout->own_state ? timers->layout->own_state() : 0;
    if (!timer->start.state)
        timer->start.state =
            atomic_load_explicit(&timer->state, memory_order_relaxed);
    Walk_frames(&timer->walk, &timer->start);
    head.depth = (uint16_t)timer->walk.depth;
    memcpy(head.roots, timer->walk.roots, sizeof head.roots);
    head.tag = timer->walk.tag;
    head.flags = flags_of(timer, counter);
    // `read` is false if the thread has freed its PyThreadState.
    if (timer->start.read)
        see_gil(timers->layout->gil, timer->start.state, &head);
    walk_natives(timer, &head);
    if (SampleRing_push(&timer->ring, &head, timer->walk.frames,
                        timer->native.pcs))
        atomic_store_explicit(&timer->sampled_ns, now_ns, memory_order_relaxed);
    Counter_add(&timer->taken, 1);
    took = Clock_read(timers->clock) - head.ticks;
    Counter_add(&timer->handler_ticks,
                took < timers->most ? took : timers->most);
}

// Returns false if reading the time stamp counter has failed (tsc_guard.h).
// may_call_the_kernel reads the counter only to make this check.
static bool may_call_the_kernel(const struct CpuTimer *timer)
{
    Clock_read(timer->timers->clock);
    return !TscGuard_has_tripped();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    int before = errno;
    struct CpuTimer *timer;
    struct TimerSlot *slot;

    (void)number;
    slot = info->si_code == SI_TIMER ? TimerSlot_find((uint32_t)value) : NULL;
    if (!slot)
        return; // None of Ocular's timers has sent this signal.
    // The atomic operations in on_signal, CpuTimer_free and is_free are
    // sequentially consistent. Either the signal handler therefore sees that
    // the timer is gone, or the thread that frees the timer sees that the slot
    // is busy.
    atomic_fetch_add(&slot->busy, 1);
    timer = atomic_load(&slot->timer);
    if (timer && timer != TIMER_CLAIMED &&
        atomic_load(&slot->generation) == value >> 32 &&
        may_call_the_kernel(timer)) {
        // The process's signals are passed to the main thread first, because
        // the kernel has already woken the main thread for them.
        if (timer->tid != timer->timers->pid)
            MainSignals_pass(context, timer->timers->pid);
        CpuTimer_sample(timer, Now_ns(CLOCK_THREAD_CPUTIME_ID),
                        interrupted(context, &timer->native));
    }
    atomic_fetch_sub(&slot->busy, 1);
    errno = before;
}

// --- The signal --------------------------------------------------------------

void CpuTimers_open(struct CpuTimers *timers, int signal)
{
    struct timespec tick = {0, 4000000};

    if (!Memory_is_readable((uintptr_t)&timers->error)) {
        // A filter of system calls (seccomp) forbids rt_sigprocmask.
        timers->error = -EPERM;
        return;
    }
    timers->error = 0;
    timers->pid = getpid();
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    timers->tick_ns = (uint64_t)tick.tv_sec * 1000000000u + tick.tv_nsec;
    timers->most = (uint64_t)(MOST_S * Clock_hz(timers->clock));
    OwnText_find();
    signal = TimerSignal_install(signal, on_signal);
    if (signal > 0)
        timers->signal = signal;
    else
        timers->error = signal;
}

bool CpuTimers_lost_signal(const struct CpuTimers *timers)
{
    return timers->signal && !TimerSignal_has(timers->signal, on_signal);
}

// --- Timers ------------------------------------------------------------------

static bool make_timer(struct CpuTimer *timer)
{
    struct TimerSlot *slot = TimerSlot_find(timer->slot);
    uint64_t value = (uint64_t)atomic_load(&slot->generation) << 32;
    struct sigevent event;

    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timer->signal;
    event.sigev_notify_thread_id = timer->tid;
    event.sigev_value.sival_ptr = (void *)(uintptr_t)(value | timer->slot);
    if (timer_create(Now_clock_of(timer->tid), &event, &timer->timer))
        timer = NULL;
    atomic_store(&slot->timer, timer);
    return timer;
}

// Returns a timer for a thread that has used `cpu_ns` of CPU time. Returns NULL
// if there is no memory or the kernel refuses.
static struct CpuTimer *make(struct CpuTimers *timers, uintptr_t state,
                             pid_t tid, uint64_t cpu_ns)
{
    struct CpuTimer *timer = Heap_alloc(sizeof(*timer));

    if (!timer)
        return NULL;
    memset(timer, 0, offsetof(struct CpuTimer, ring.words));
    timer->timers = timers;
    timer->signal = timers->signal;
    timer->tid = tid;
    timer->state = state;
    timer->represents = 1;
    timer->accounted_ns = cpu_ns;
    Mute_init(&timer->mute);
    if (timer->signal && Walk_init(&timer->walk, timers->layout, NULL) == 0 &&
        TimerSlot_take(&timer->slot) && make_timer(timer))
        return timer;
    Heap_free(timer);
    return NULL;
}

struct CpuTimer *CpuTimer_new(struct CpuTimers *timers, uintptr_t state,
                              pid_t tid)
{
    uint64_t cpu_ns = Now_ns(Now_clock_of(tid));
    struct CpuTimer *timer;

    if (!timers->signal || !cpu_ns) // A thread whose CPU clock is 0 has ended.
        return NULL;
    timer = make(timers, state, tid, cpu_ns);
    if (!timer) {
        timers->refused++;
        return NULL;
    }
    Mute_read(&timer->mute, tid, timer->signal);
    return timer;
}

// The kernel checks CPU clocks only at its timer ticks. A thread's first sample
// therefore comes at a random timer tick of its first interval.
bool CpuTimer_begin(struct CpuTimers *timers, uintptr_t state,
                    uint64_t interval_ns, uint32_t represents, uint64_t random)
{
    uint64_t ticks = interval_ns / timers->tick_ns;
    struct itimerspec when = {.it_interval = Now_timespec(interval_ns)};
    struct CpuTimer *timer = make(timers, state, (pid_t)syscall(SYS_gettid),
                                  Now_ns(CLOCK_THREAD_CPUTIME_ID));

    if (!timer)
        return false;
    ticks += ticks == 0;
    timer->represents = represents;
    if (!Mute_say(&timer->mute, timer->signal)) {
        timer->first_ns = ticks * timers->tick_ns;
        timer->interval_ns = interval_ns;
        timer->seen_mute = timer->mute.word;
        when.it_value = Now_timespec(random % ticks * timers->tick_ns + 1);
        timer_settime(timer->timer, 0, &when, NULL);
    }
    timer->next = atomic_load_explicit(&timers->begun, memory_order_relaxed);
    // This store pairs with the exchange in CpuTimers_take_begun.
    while (!atomic_compare_exchange_weak_explicit(&timers->begun, &timer->next,
                                                  timer, memory_order_release,
                                                  memory_order_relaxed))
        continue;
    return true;
}

struct CpuTimer *CpuTimers_take_begun(struct CpuTimers *timers)
{
    return atomic_exchange_explicit(&timers->begun, NULL, memory_order_acquire);
}

static void stop(const struct CpuTimer *timer)
{
    const struct itimerspec never = {.it_value = {0, 0}};

    timer_settime(timer->timer, 0, &never, NULL);
}

static bool is_sooner(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec ||
           (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

// If a timer's interval is changed and the old interval ends before the new
// one, the next sample comes at the end of the old interval. A thread therefore
// gets samples even if its timer's interval is changed often.
void CpuTimer_set(struct CpuTimer *timer, uint64_t interval_ns)
{
    uint32_t mute = atomic_load(&timer->mute.word);
    struct itimerspec when, before;

    if (mute & MUTED)
        interval_ns = 0;
    if (timer->interval_ns == interval_ns && timer->seen_mute == mute)
        return;
    when.it_interval = when.it_value = Now_timespec(interval_ns);
    if (timer->interval_ns && timer_gettime(timer->timer, &before) == 0 &&
        is_sooner(&before.it_value, &when.it_value) &&
        (before.it_value.tv_sec || before.it_value.tv_nsec))
        when.it_value = before.it_value;
    timer->interval_ns = interval_ns;
    timer->seen_mute = mute;
    timer_settime(timer->timer, 0, &when, NULL);
    // If the sampled thread has muted the timer since `mute` was read, either
    // this check sees the mute, or CpuTimer_note_mask stops the timer later.
    if (interval_ns && Mute_is_on(&timer->mute))
        stop(timer);
}

void CpuTimer_note_mask(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    struct TimerSlot *slot;

    for (uint32_t i = 0; (slot = TimerSlot_find(i)); i++) {
        struct CpuTimer *timer = atomic_load(&slot->timer);

        if (!timer || timer == TIMER_CLAIMED)
            continue;
        // As long as the slot is busy, its timer is not freed.
        atomic_fetch_add(&slot->busy, 1);
        timer = atomic_load(&slot->timer);
        if (timer && timer != TIMER_CLAIMED && timer->tid == tid &&
            Mute_say(&timer->mute, timer->signal)) {
            stop(timer);
            TimerSignal_take_back(timer->signal);
        }
        atomic_fetch_sub(&slot->busy, 1);
    }
}

void CpuTimer_account(struct CpuTimer *timer, uint64_t cpu_ns)
{
    atomic_store_explicit(&timer->accounted_ns, cpu_ns, memory_order_relaxed);
}

uint64_t CpuTimer_sampled_ns(const struct CpuTimer *timer)
{
    return atomic_load_explicit(&timer->sampled_ns, memory_order_relaxed);
}

uint64_t CpuTimer_covered_ns(const struct CpuTimer *timer)
{
    uint64_t sampled = CpuTimer_sampled_ns(timer);
    uint64_t accounted =
        atomic_load_explicit(&timer->accounted_ns, memory_order_relaxed);

    return sampled > accounted ? sampled : accounted;
}

// --- Their end ---------------------------------------------------------------

static bool is_free(const struct CpuTimer *timer)
{
    return !atomic_load(&TimerSlot_find(timer->slot)->busy);
}

static void free_closing(struct CpuTimers *timers)
{
    struct CpuTimer **link = &timers->closing;

    while (*link) {
        struct CpuTimer *timer = *link;

        if (is_free(timer)) {
            *link = timer->next;
            Heap_free(timer);
        } else {
            link = &timer->next;
        }
    }
}

void CpuTimer_free(struct CpuTimer *timer)
{
    struct CpuTimers *timers;

    if (!timer)
        return;
    timers = timer->timers;
    timer_delete(timer->timer);
    atomic_store(&TimerSlot_find(timer->slot)->timer, NULL);
    timer->next = timers->closing;
    timers->closing = timer;
    free_closing(timers);
}

void CpuTimers_close(struct CpuTimers *timers)
{
    const struct timespec pause = {0, 1000000};

    free_closing(timers);
    // A timer is never freed if a debugger has stopped its thread in the signal
    // handler.
    for (int ms = 0; timers->closing && ms < CLOSE_MS; ms++) {
        nanosleep(&pause, NULL);
        free_closing(timers);
    }
    timers->signal = 0;
}

void CpuTimers_abandon(struct CpuTimers *timers)
{
    struct TimerSlot *slot;

    for (uint32_t i = 0; (slot = TimerSlot_find(i)); i++) {
        struct CpuTimer *timer = slot->timer;

        // The thread that ran the signal handler does not exist in the forked
        // child.
        slot->busy = 0;
        if (timer == TIMER_CLAIMED)
            slot->timer = NULL;
        if (!timer || timer == TIMER_CLAIMED || timer->timers != timers)
            continue;
        slot->timer = NULL;
        Heap_free(timer);
    }
    for (struct CpuTimer *timer = timers->closing, *next; timer; timer = next) {
        next = timer->next;
        Heap_free(timer);
    }
    timers->closing = NULL;
    timers->begun = NULL;
}
