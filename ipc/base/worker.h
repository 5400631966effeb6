// SPDX-License-Identifier: MIT
// One of our own threads in a process that is not ours. A worker blocks all
// signals, and its stack is small. It drops all capabilities but the two for
// changing users and groups; if system calls are filtered, no capability is
// dropped. The CPU time of a worker's thread and of its earlier threads is
// known. The thread that starts a worker joins it.
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
    bool started; // started and not joined; for the starting thread
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
    pid_t ended; // tid of the newest ended thread; for the joiner
};

// Starts a thread with a name of at most 15 bytes. Returns 0 or -errno. The
// stack is made larger if the program's thread-local memory would not fit. The
// worker must be zeroed before its first start, and must not move. A worker may
// be started again after Worker_join.
int Worker_start(struct Worker *worker, const char *name,
                 void (*run)(void *context), void *context, size_t stack_bytes);
// Gives the calling thread an empty table of descriptors of its own. So the
// thread never opens or closes descriptors of the program, whatever files it
// opens and closes. Does nothing if system calls are filtered, and before Linux
// 5.9.
void Worker_leave_descriptors(void);
// Waits until the thread has ended and the kernel does not count it among the
// process's threads any more. (pthread_join alone returns a moment earlier.)
// Does nothing if the worker was not started.
void Worker_join(struct Worker *worker);
// Returns how many workers run. Any thread may call this, but not in a forked
// child.
int Worker_count(void);
// Returns the CPU time in ns of the thread and of the worker's earlier threads.
// Any thread may call this.
uint64_t Worker_cpu_ns(const struct Worker *worker);

#endif
