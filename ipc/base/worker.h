// SPDX-License-Identifier: MIT
// struct Worker is a thread of Ocular's own in the traced process. A worker
// blocks all signals and has a small stack. It drops all capabilities except
// CAP_SETUID and CAP_SETGID. If system calls are filtered, it drops no
// capability. Worker_cpu_ns() returns the CPU time of a worker's present and
// earlier threads. The thread that starts a worker also joins it.
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
    // True if the thread was started and not joined. Only the thread that
    // starts the worker uses `started`.
    bool started;
    // Work that needs memory and must be done on the new thread before
    // Worker_start returns; or NULL. It is set before the start.
    void (*prepare)(void);
    sem_t prepared;
    const char *name;
    void (*run)(void *context);
    void *context;
    atomic_int tid; // Thread id of the running thread; 0 if no thread runs.
    // ns of CPU time of all threads of this worker that have ended.
    _Atomic uint64_t ended_ns;
    // Value of ended_ns when the present thread began.
    _Atomic uint64_t before_ns;
    pid_t ended; // Thread id of the thread that ended last, for Worker_join.
};

// Starts a thread with a name of at most 15 bytes. Returns 0 or -errno. If the
// program's thread-local memory does not fit, makes the stack larger. The
// worker must be zeroed before its first start, and must not move. A worker may
// be started again after Worker_join.
int Worker_start(struct Worker *worker, const char *name,
                 void (*run)(void *context), void *context, size_t stack_bytes);
// Gives the calling thread its own, empty table of descriptors. So the thread
// can neither use nor close the program's descriptors. Does nothing and returns
// false if system calls are filtered, or before Linux 5.9.
bool Worker_leave_descriptors(void);
// Waits until the thread has ended and the kernel no longer lists it.
// (pthread_join() alone returns a moment earlier.) Does nothing if the worker
// was not started.
void Worker_join(struct Worker *worker);
// Returns true if the calling thread is the worker's thread.
bool Worker_is_here(const struct Worker *worker);
// Returns the number of running workers. Any thread may call this function, but
// not in a forked child.
int Worker_count(void);
// Returns the CPU time in ns of the worker's present and earlier threads. Any
// thread may call this function.
uint64_t Worker_cpu_ns(const struct Worker *worker);

#endif
