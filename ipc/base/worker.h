// SPDX-License-Identifier: MIT
// A worker is a thread of Ocular's own in the traced process. A worker blocks
// all signals and has a small stack. A worker drops all capabilities except
// CAP_SETUID and CAP_SETGID; if system calls are filtered, a worker drops no
// capability. Worker_cpu_ns() returns the CPU time of a worker's present and
// earlier threads. The thread that starts a worker also joins the worker.
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
    bool started; // started and not joined; only the starting thread uses this
    // Called on the thread before Worker_start returns, for work that needs
    // memory; or NULL. `prepare` is set before the start.
    void (*prepare)(void);
    sem_t prepared;
    const char *name;
    void (*run)(void *context);
    void *context;
    atomic_int tid;             // of the running thread, else 0
    _Atomic uint64_t ended_ns;  // CPU time of all threads that have ended
    _Atomic uint64_t before_ns; // ended_ns when the present thread began
    pid_t ended; // tid of the newest ended thread; read by Worker_join
};

// Starts a thread with a name of at most 15 bytes. Returns 0 or -errno. The
// stack is made larger if the program's thread-local memory does not fit. The
// worker must be zeroed before its first start, and must not move. A worker may
// be started again after Worker_join.
int Worker_start(struct Worker *worker, const char *name,
                 void (*run)(void *context), void *context, size_t stack_bytes);
// Gives the calling thread its own, empty table of descriptors. So the thread
// can neither use nor close the program's descriptors. Does nothing if system
// calls are filtered, and before Linux 5.9.
void Worker_leave_descriptors(void);
// Waits until the thread has ended and the kernel does not list it any more.
// (pthread_join() alone returns a moment earlier.) Does nothing if the worker
// was not started.
void Worker_join(struct Worker *worker);
// Returns true on the worker's thread.
bool Worker_is_here(const struct Worker *worker);
// Returns the number of workers that run. Any thread may call this function,
// but not in a forked child.
int Worker_count(void);
// Returns the CPU time in ns of the thread and of the worker's earlier threads.
// Any thread may call this function.
uint64_t Worker_cpu_ns(const struct Worker *worker);

#endif
