// SPDX-License-Identifier: MIT
// Starts and joins Ocular's threads, and measures their CPU time. See worker.h.
#define _GNU_SOURCE 1 // tgkill, gettid
#include "ipc/base/worker.h"
#include "ipc/base/now.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_MAX (16u << 20)
// Number of times that Worker_join checks, without a pause, whether the kernel
// still lists the ended thread.
#define YIELDS 1000
#define PAUSES 10000 // Number of further checks by Worker_join, 100 us apart.

// Returns true if system calls are filtered. An unexpected call may then kill
// the process (systemd's SystemCallFilter=~@resources).
static bool is_filtered(void)
{
    return prctl(PR_GET_SECCOMP) != 0;
}

// glibc repeats setuid(), setgroups() and similar calls on every thread. If a
// call succeeds on one thread and fails on another, glibc aborts. A worker
// therefore keeps CAP_SETUID and CAP_SETGID until the program gives up root.
#define KEPT (1u << CAP_SETUID | 1u << CAP_SETGID)

// Each thread has its own capabilities. Without drop_capabilities(), Ocular's
// thread would keep capabilities that the program gives up later. Ocular's
// threads do not need capabilities: they read only their own process, and their
// files belong to the process's user or were opened by a viewer.
static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct held[2] = {{0}};

    if (is_filtered() || syscall(SYS_capget, &header, held) != 0)
        return;
    if (!((held[0].permitted | held[0].inheritable) & ~KEPT) &&
        !held[1].permitted && !held[1].inheritable)
        return;
    held[0].effective &= KEPT;
    held[0].permitted &= KEPT;
    held[0].inheritable = 0;
    held[1] = (struct __user_cap_data_struct){0};
    syscall(SYS_capset, &header, held);
}

// Number of running workers. `count` is global, because it counts the threads
// of all sessions and services.
static atomic_int count;

int Worker_count(void)
{
    return atomic_load(&count);
}

static void *begin(void *argument)
{
    struct Worker *worker = argument;
    uint64_t before =
        atomic_load_explicit(&worker->ended_ns, memory_order_relaxed);

    prctl(PR_SET_NAME, worker->name);
    drop_capabilities();
    // before_ns is stored before tid, because Worker_cpu_ns() must count each
    // thread's time exactly once.
    atomic_store_explicit(&worker->before_ns, before, memory_order_relaxed);
    atomic_store_explicit(&worker->tid, gettid(), memory_order_release);
    atomic_fetch_add(&count, 1);
    if (worker->prepare) {
        worker->prepare();
        sem_post(&worker->prepared);
    }
    worker->run(worker->context);
    // A worker's thread stores its own id and CPU time at its end, because
    // another thread may have the same id by the time of the join.
    worker->ended = gettid();
    atomic_store_explicit(&worker->ended_ns,
                          before + Now_ns(CLOCK_THREAD_CPUTIME_ID),
                          memory_order_relaxed);
    atomic_fetch_sub(&count, 1);
    atomic_store_explicit(&worker->tid, 0, memory_order_release);
    return NULL;
}

int Worker_start(struct Worker *worker, const char *name,
                 void (*run)(void *context), void *context, size_t stack_bytes)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    worker->name = name;
    worker->run = run;
    worker->context = context;
    if (worker->prepare)
        sem_init(&worker->prepared, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // A thread's stack also holds the program's thread-local memory. If the
    // program has much thread-local memory, pthread_create() refuses a small
    // stack.
    do {
        pthread_attr_setstacksize(&attributes, stack_bytes);
        error = pthread_create(&worker->thread, &attributes, begin, worker);
        stack_bytes *= 2;
    } while (error == EINVAL && stack_bytes <= STACK_MAX);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    worker->started = error == 0;
    while (worker->started && worker->prepare &&
           sem_wait(&worker->prepared) != 0)
        continue; // sem_wait() was interrupted by a signal handler.
    return -error;
}

bool Worker_leave_descriptors(void)
{
    // The new table of descriptors must be empty, because a copy of the
    // program's table would keep the program's pipes open.
    return prctl(PR_GET_SECCOMP) == 0 &&
           syscall(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE) == 0;
}

void Worker_join(struct Worker *worker)
{
    const struct timespec pause = {0, 100000};
    int turn;

    if (!worker->started)
        return;
    pthread_join(worker->thread, NULL);
    worker->started = false;
    for (turn = 0;
         turn < YIELDS + PAUSES && tgkill(getpid(), worker->ended, 0) == 0;
         turn++)
        if (turn < YIELDS)
            sched_yield();
        else
            nanosleep(&pause, NULL);
}

bool Worker_is_here(const struct Worker *worker)
{
    return worker->started && worker->tid == gettid();
}

uint64_t Worker_cpu_ns(const struct Worker *worker)
{
    int tid = atomic_load_explicit(&worker->tid, memory_order_acquire);
    uint64_t before =
        atomic_load_explicit(&worker->before_ns, memory_order_relaxed);
    uint64_t ns = tid ? Now_ns(Now_clock_of(tid)) : 0;

    if (ns)
        return before + ns;
    return atomic_load_explicit(&worker->ended_ns, memory_order_relaxed);
}
