// SPDX-License-Identifier: MIT
// Starts, joins and times our threads; see the header.
#define _GNU_SOURCE 1 // tgkill, gettid
#include "ipc/worker.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define STACK_MAX (16u << 20)
#define YIELDS 10000 // until the kernel has forgotten a thread

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec used;

    if (clock_gettime(clock, &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void *begin(void *argument)
{
    struct Worker *worker = argument;

    prctl(PR_SET_NAME, worker->name);
    // Pairs with Worker_cpu_ns and Worker_join.
    atomic_store_explicit(&worker->tid, gettid(), memory_order_relaxed);
    worker->run(worker->context);
    worker->last_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
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
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // The program's thread-local memory comes out of the stack: where there is
    // much of it, a small one is refused.
    do {
        pthread_attr_setstacksize(&attributes, stack_bytes);
        error = pthread_create(&worker->thread, &attributes, begin, worker);
        stack_bytes *= 2;
    } while (error == EINVAL && stack_bytes <= STACK_MAX);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    worker->started = error == 0;
    return -error;
}

void Worker_join(struct Worker *worker)
{
    pid_t tid;
    int yields;

    if (!worker->started)
        return;
    pthread_join(worker->thread, NULL);
    worker->started = false;
    tid = atomic_exchange_explicit(&worker->tid, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&worker->ended_ns, worker->last_ns,
                              memory_order_relaxed);
    for (yields = 0; yields < YIELDS && tgkill(getpid(), tid, 0) == 0; yields++)
        sched_yield();
}

uint64_t Worker_cpu_ns(const struct Worker *worker)
{
    unsigned tid =
        (unsigned)atomic_load_explicit(&worker->tid, memory_order_relaxed);
    uint64_t ended =
        atomic_load_explicit(&worker->ended_ns, memory_order_relaxed);

    // The kernel's clock of a thread, by its id: a finished one's just fails.
    return ended + (tid ? clock_ns((clockid_t)(~tid << 3 | 6)) : 0);
}
