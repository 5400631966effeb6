// SPDX-License-Identifier: MIT
// One of our own threads in a process that is not ours. No signal is ever
// delivered to it. It has no capabilities but the two to change users and
// groups (none is dropped if system calls are filtered). Its stack is small.
// The CPU time of it and of those started in its place before is known. The
// thread that starts it joins it.
#ifndef OCULAR_IPC_BASE_WORKER_H
#define OCULAR_IPC_BASE_WORKER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Worker {
    pthread_t thread;
    bool started;          // and not joined; the starter's and joiner's
    void (*prepare)(void); // set before its start, or NULL: what needs memory,
                           // done on the thread before Worker_start returns
    sem_t prepared;
    const char *name;
    void (*run)(void *context);
    void *context;
    atomic_int tid;             // while it runs, else 0
    _Atomic uint64_t ended_ns;  // CPU time of those that have ended
    _Atomic uint64_t before_ns; // the same, when this one began
    pid_t ended;                // the newest of them; for the joiner
};

// Starts it: with this name, at most 15 bytes. 0 or -errno. Its stack is larger
// if the program's thread-local memory would not fit. The worker is zeroed
// before its first start and stays where it is; it may be started again after
// Worker_join.
int Worker_start(struct Worker *worker, const char *name,
                 void (*run)(void *context), void *context, size_t stack_bytes);
// From now on the calling thread has a table of descriptors of its own, which
// is empty: it never opens or closes the program's files there, whatever files
// that opens and closes meanwhile. Nothing if system calls are filtered, and
// before Linux 5.9.
void Worker_leave_descriptors(void);
// Waits for its end. It is not counted among the process's threads afterwards
// (pthread_join alone returns a moment before that). Nothing if it was not
// started.
void Worker_join(struct Worker *worker);
// How many run. Any thread; not in a forked child.
int Worker_count(void);
// CPU time used by it and those before it. Any thread.
uint64_t Worker_cpu_ns(const struct Worker *worker);

#endif
