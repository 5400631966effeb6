// SPDX-License-Identifier: MIT
// Tests tracer/sample/cpu_timer on real threads. Samples must cover all CPU
// time and belong to the right thread. No signal may do harm, even if it comes
// late or from somebody else. The traced program must not notice the timers.
#define _GNU_SOURCE 1 // for gettid().
#include "ipc/base/now.h"
#include "tracer/base/clock.h"
#include "tracer/sample/cpu_timer.h"
#include "tracer/sample/gil.h"

#include "tests/sanitizers.h"
#include "tests/tracer/fake_frames.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit.h"

#define MS 1000000u
#define CODE 0x1000
#define LIMIT_NS (60000ull * MS) // A test fails after this time.

static struct Registry *registry;
static struct Clock counter;
static struct CpuTimers timers;
static struct FakeThread python; // The thread that runs the tests.

// Makes the stack of a thread. The outermost frame has the code `code` + 16,
// and each inner frame has code at a higher address.
static void make_stack(struct FakeThread *thread, uintptr_t code,
                       unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        thread->frames[i] = (struct FakeFrame){
            code + 16 * (i + 1),
            i ? (uintptr_t)&thread->frames[i - 1] : 0,
            0,
        };
    thread->chunk = (uintptr_t)thread->frames;
    thread->frame = (uintptr_t)&thread->frames[depth - 1];
    thread->top = (uintptr_t)&thread->frames[depth];
}

// Checks that the signal handler runs on the alternate stack, because a
// program's own stack can be small, and that interrupted system calls are
// restarted.
static void expect_flags(void)
{
    struct sigaction action;

    sigaction(timers.signal, NULL, &action);
    assert_int_equal(action.sa_flags & (SA_SIGINFO | SA_RESTART | SA_ONSTACK),
                     SA_SIGINFO | SA_RESTART | SA_ONSTACK);
}

static void open_timers(void)
{
    timers = (struct CpuTimers){
        .registry = registry, .layout = &LAYOUT, .clock = &counter};
    CpuTimers_open(&timers, 0);
    assert_int_equal(timers.error, 0);
    assert_true(timers.signal > SIGRTMIN && timers.signal < SIGRTMAX);
    expect_flags();
}

static void set_up(void)
{
    registry = Registry_new();
    Registry_next_id(registry);
    Clock_start(&counter);
    make_stack(&python, CODE, 2);
    open_timers();
}

static void tear_down(void)
{
    CpuTimers_close(&timers);
    assert_null(timers.closing);
    Registry_free(registry);
}

static uint64_t cpu_ns(void)
{
    return Now_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void spin(uint64_t ns)
{
    uint64_t from = cpu_ns();

    while (cpu_ns() - from < ns)
        continue;
}

static uint64_t taken(const struct CpuTimer *timer)
{
    return Counter_get(&timer->taken);
}

// Spins until this thread has `count` samples.
static void spin_until(const struct CpuTimer *timer, uint64_t count)
{
    uint64_t from = cpu_ns();

    while (taken(timer) < count && cpu_ns() - from < LIMIT_NS)
        continue;
    assert_true(taken(timer) >= count);
}

static struct CpuTimer *timer_of(const struct FakeThread *thread, pid_t tid)
{
    struct CpuTimer *timer = CpuTimer_new(&timers, (uintptr_t)thread, tid);

    assert_non_null(timer);
    return timer;
}

static struct CpuTimer *own_timer(void)
{
    return timer_of(&python, gettid());
}

static struct SampleHead head;
static struct WalkFrame frames[WALK_DEPTH];
static uintptr_t natives[NATIVE_DEPTH];

static bool pop(struct CpuTimer *timer)
{
    return SampleRing_pop(&timer->ring, &head, frames, natives);
}

TEST_WITH(test_a_thread_that_spins, set_up, tear_down)
{
    struct CpuTimer *timer = own_timer();
    uint64_t began = CpuTimer_covered_ns(timer), count = 0, sum = 0;
    uint64_t ticks = Clock_read(&counter), handlers;

    assert_true(began > 0 && began <= cpu_ns());
    CpuTimer_set(timer, 5 * MS);
    spin_until(timer, 20);
    CpuTimer_set(timer, 0);
    for (; pop(timer); count++) {
        assert_int_equal(head.depth, 2);
        assert_int_equal(frames[0].code, CODE + 32);
        assert_int_equal(frames[1].code, CODE + 16);
        assert_int_equal(head.newest_id, Registry_newest_id(registry));
        assert_int_equal(head.flags & ~SAMPLE_OURS, SAMPLE_ACTIVE);
        assert_true(head.ticks >= ticks);
        assert_true(head.cpu_ns > 0);
        ticks = head.ticks;
        sum += head.cpu_ns;
    }
    assert_int_equal(count, taken(timer));
    // Every ns of CPU time is in exactly one sample.
    assert_int_equal(sum, CpuTimer_covered_ns(timer) - began);
    assert_true(CpuTimer_covered_ns(timer) <= cpu_ns());
    handlers = Counter_get(&timer->handler_ticks);
    assert_true(handlers > 0 && handlers <= count * timers.most);
    spin(50 * MS); // The timer has stopped.
    assert_int_equal(taken(timer), count);
    CpuTimer_free(timer);
    CpuTimer_free(NULL);
}

static uint8_t flags_with(uintptr_t state)
{
    static const int locked = 1;
    static const unsigned long switches = 1;
    const struct Gil gil = {
        .locked = &locked, .last_holder = &state, .switches = &switches};
    struct FrameLayout layout = LAYOUT;
    struct CpuTimer *timer;

    layout.gil = &gil;
    timers.layout = &layout;
    timer = CpuTimer_new(&timers, state, gettid());
    CpuTimer_sample(timer, cpu_ns(), 0);
    assert_true(pop(timer));
    CpuTimer_free(timer);
    timers.layout = &LAYOUT;
    return head.flags;
}

TEST_WITH(test_a_freed_state_does_not_hold_the_gil, set_up, tear_down)
{
    void *freed =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(flags_with((uintptr_t)&python) & SAMPLE_HOLDS);
    assert_int_equal(flags_with((uintptr_t)freed) & SAMPLE_HOLDS, 0);
    munmap(freed, 4096);
}

// Runs a thread for an hour of virtual time. Samples come at irregular times,
// observations come from time to time, and the ring is emptied late. Each ns is
// in one sample or in one observation.
TEST_WITH(test_an_hour, set_up, tear_down)
{
    const uint64_t hour = 3600 * 1000 * (uint64_t)MS;
    struct CpuTimer *timer = own_timer();
    uint64_t began = CpuTimer_covered_ns(timer), now = began, sum = 0;
    uint64_t samples = 0, most = 0;

    for (unsigned i = 0; now < began + hour; i++) {
        now += (4 + i * 7919 % 97) * MS;
        if (i % 50 == 7) {
            // An observation finds the thread running, and counts all CPU time
            // since the last sample.
            sum += now - CpuTimer_covered_ns(timer);
            CpuTimer_account(timer, now);
        } else {
            CpuTimer_sample(timer, now, 0);
            samples++;
        }
        for (bool more = i % 20000 > 15000; more && (more = pop(timer));) {
            sum += head.cpu_ns;
            most = head.cpu_ns > most ? head.cpu_ns : most;
        }
    }
    while (pop(timer))
        sum += head.cpu_ns;
    // The next sample also has the time of the samples for which the ring had
    // no room.
    CpuTimer_sample(timer, now, 0);
    assert_true(pop(timer));
    sum += head.cpu_ns;
    assert_int_equal(taken(timer), samples + 1);
    // The time of lost samples is in the samples that followed.
    assert_true(Counter_get(&timer->ring.lost) > 0);
    assert_true(most > 100 * MS);
    assert_int_equal(CpuTimer_covered_ns(timer), now);
    assert_int_equal(sum, now - began);
    // If the clock has gone back, as after a fork, the sample has no time.
    CpuTimer_sample(timer, began / 2, 0);
    assert_true(pop(timer));
    assert_int_equal(head.cpu_ns, 0);
    CpuTimer_free(timer);
}

struct Worker {
    pthread_t thread;
    sem_t ready, go;
    pid_t tid;
    struct CpuTimer *timer;
    struct FakeThread python;
};

static void *work(void *argument)
{
    struct Worker *worker = argument;
    uint64_t from;

    worker->tid = gettid();
    sem_post(&worker->ready);
    while (sem_wait(&worker->go) != 0)
        continue;
    from = cpu_ns();
    while (worker->timer && !taken(worker->timer) && cpu_ns() - from < LIMIT_NS)
        continue;
    return NULL;
}

static void start(struct Worker *worker, void *(*run)(void *))
{
    memset(worker, 0, sizeof *worker);
    sem_init(&worker->ready, 0, 0);
    sem_init(&worker->go, 0, 0);
    assert_int_equal(pthread_create(&worker->thread, NULL, run, worker), 0);
    while (sem_wait(&worker->ready) != 0)
        continue;
}

static void join(struct Worker *worker)
{
    pthread_join(worker->thread, NULL);
    sem_destroy(&worker->ready);
    sem_destroy(&worker->go);
}

// Returns the signal that the kernel sends for a timer of this thread.
// The thread blocks the signal, so the signal has no effect.
static siginfo_t intercept(struct CpuTimer *timer)
{
    uint64_t from = cpu_ns();
    const struct timespec none = {0, 0};
    sigset_t set, pending;
    siginfo_t info, more;

    sigemptyset(&set);
    sigaddset(&set, timers.signal);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    CpuTimer_set(timer, MS);
    do
        sigpending(&pending);
    while (!sigismember(&pending, timers.signal) && cpu_ns() - from < LIMIT_NS);
    // The timer is still running. Since Linux 6.13, stopping it would drop the
    // signal.
    assert_int_equal(sigtimedwait(&set, &info, &none), timers.signal);
    CpuTimer_set(timer, 0);
    sigtimedwait(&set, &more, &none);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    assert_int_equal(info.si_code, SI_TIMER);
    return info;
}

static void send_info(pid_t tid, siginfo_t info)
{
    assert_int_equal(
        syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, timers.signal, &info), 0);
}

TEST_WITH(test_a_signal_that_comes_late, set_up, tear_down)
{
    struct CpuTimer *timer = own_timer(), *next;
    siginfo_t late = intercept(timer);
    uint32_t slot = timer->slot;

    assert_int_equal(taken(timer), 0);
    // Sends the signal that was taken, just as the kernel sends it.
    send_info(gettid(), late);
    assert_int_equal(taken(timer), 1);
    CpuTimer_free(timer);
    send_info(gettid(), late); // The slot has no timer.
    next = own_timer();
    assert_int_equal(next->slot, slot);
    // This late signal is for the earlier timer in the same slot.
    send_info(gettid(), late);
    assert_int_equal(taken(next), 0);
    send_info(gettid(), intercept(next));
    assert_int_equal(taken(next), 1);
    CpuTimer_free(next);
    CpuTimers_close(&timers);
    late.si_signo = timers.signal;
    open_timers();
    send_info(gettid(), late);
}

static sem_t inside, outside;
static void *guarded;

// Runs if the sampler's handler reads the guarded page. Waits until the test
// makes the page readable.
static void on_fault(int number)
{
    int before = errno;

    (void)number;
    sem_post(&inside);
    while (sem_wait(&outside) != 0)
        continue;
    mprotect(guarded, sizeof(struct Registry), PROT_READ | PROT_WRITE);
    errno = before;
}

TEST_WITH(test_freed_while_its_handler_runs, set_up, tear_down)
{
    struct sigaction action = {.sa_handler = on_fault}, before;
    struct Worker *worker = calloc(1, sizeof *worker);
    struct CpuTimer *timer, *other;
    siginfo_t info;

    if (UNDER_TSAN)
        skip(); // ThreadSanitizer's runtime would fault on the unreadable page.
    sem_init(&inside, 0, 0);
    sem_init(&outside, 0, 0);
    guarded = mmap(NULL, sizeof(struct Registry), PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, &before);
    timer = own_timer();
    info = intercept(timer);
    CpuTimer_free(timer);
    start(worker, work);
    timer = timer_of(&worker->python, worker->tid);
    assert_int_equal((uint32_t)(uintptr_t)info.si_value.sival_ptr, timer->slot);
    worker->timer = timer;
    timers.registry = guarded;
    CpuTimer_set(timer, MS);
    sem_post(&worker->go);
    while (sem_wait(&inside) != 0)
        continue;
    CpuTimer_free(timer);
    // The signal handler still uses the timer.
    assert_ptr_equal(timers.closing, timer);
    // A late signal comes for the same slot.
    send_info(gettid(), info);
    other = own_timer();
    assert_int_not_equal(other->slot, timer->slot);
    CpuTimer_free(other);
    assert_ptr_equal(timers.closing, timer);
    sem_post(&outside);
    join(worker); // The handler has finished its sample.
    CpuTimers_close(&timers);
    assert_null(timers.closing);
    sigaction(SIGSEGV, &before, NULL);
    munmap(guarded, sizeof(struct Registry));
    sem_destroy(&inside);
    sem_destroy(&outside);
    free(worker);
}

struct Storm {
    struct CpuTimer *timer;
    siginfo_t info;
    pid_t tid;
    pthread_t victim;
    _Atomic bool stop;
};

static void *send_often(void *argument)
{
    struct Storm *storm = argument;

    while (!storm->stop) {
        uint64_t before = taken(storm->timer);

        syscall(SYS_rt_tgsigqueueinfo, getpid(), storm->tid, timers.signal,
                &storm->info);
        syscall(SYS_tgkill, getpid(), storm->tid, timers.signal);
        pthread_sigqueue(storm->victim, timers.signal, storm->info.si_value);
        // Waits for a sample, because otherwise the victim would only handle
        // signals. ThreadSanitizer drops some signals if several are pending.
        for (int i = 0; i < 1000 && taken(storm->timer) == before; i++)
            sched_yield();
    }
    return NULL;
}

// System calls in the handler fail, because there is nothing to read. The
// handler must restore errno.
TEST_WITH(test_errno_is_kept, set_up, tear_down)
{
    enum { SAMPLES = FEWER(2000) };
    struct CpuTimer *timer = timer_of((void *)64, gettid());
    struct Storm storm = {.timer = timer,
                          .info = intercept(timer),
                          .tid = gettid(),
                          .victim = pthread_self()};
    // A signal handler can change errno at any time.
    volatile int *error = &errno;
    uint64_t from = cpu_ns(), wrong = 0;
    pthread_t thread;

    pthread_create(&thread, NULL, send_often, &storm);
    while (taken(timer) < SAMPLES && cpu_ns() - from < LIMIT_NS) {
        *error = ESRCH;
        for (volatile int i = 0; i < 100; i++)
            continue;
        wrong += *error != ESRCH;
        if (pop(timer))
            assert_true(head.depth == 0 && head.flags & SAMPLE_UNREAD);
    }
    storm.stop = true;
    pthread_join(thread, NULL);
    assert_true(taken(timer) >= SAMPLES);
    assert_int_equal(wrong, 0);
    CpuTimer_free(timer);
}
