// SPDX-License-Identifier: MIT
// struct Worker is a thread of Ocular's own in the traced process. A worker
// blocks all signals and has a small stack. A worker drops all capabilities
// except CAP_SETUID and CAP_SETGID. If system calls are filtered, a worker
// drops no capability. Worker_cpu_ns() returns the CPU time of a worker's
// present and earlier threads. The thread that starts a worker also joins it.
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Worker {
    pthread_t thread;
    // True from the start of the worker's thread until it is joined. Only the
    // thread that starts the worker reads or writes `started`.
    bool started;
    // Function for work that needs memory, or NULL. The new thread calls
    // `prepare` before Worker_start returns. The caller sets `prepare` before
    // Worker_start.
    void (*prepare)(void);
    sem_t prepared;
    const char *name;
    void (*run)(void *context);
    void *context;
    atomic_int tid; // Id of the worker's running thread; 0 if no thread runs.
    // ns of CPU time that all ended threads of the worker have used.
    _Atomic uint64_t ended_ns;
    // Value of ended_ns when the worker's present thread began.
    _Atomic uint64_t before_ns;
    pid_t ended; // Id of the worker's thread that ended last, for Worker_join.
};

// Starts the worker's thread. The thread's name has at most 15 bytes. Returns 0
// or -errno. If the program's thread-local memory does not fit, makes the stack
// larger. The worker must be zeroed before its first start, and must not move.
// A worker may be started again after Worker_join.
int Worker_start(struct Worker *worker, const char *name,
                 void (*run)(void *context), void *context, size_t stack_bytes);
// Gives the calling thread its own, empty table of descriptors. With its own
// table, the thread can neither use nor close the program's descriptors. Does
// nothing and returns false if system calls are filtered, or before Linux 5.9.
bool Worker_leave_descriptors(void);
// Waits until the worker's thread has ended and the kernel no longer lists it.
// Does nothing if the worker was not started. (pthread_join() alone returns a
// moment before the kernel stops listing a thread.)
void Worker_join(struct Worker *worker);
// Returns true if the calling thread is the worker's thread.
bool Worker_is_here(const struct Worker *worker);
// Returns the number of running workers. Any thread may call this function, but
// not in a forked child.
int Worker_count(void);
// Returns the CPU time in ns of the worker's present and earlier threads. Any
// thread may call this function.
uint64_t Worker_cpu_ns(const struct Worker *worker);
