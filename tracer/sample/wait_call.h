// SPDX-License-Identifier: MIT
// Tells what a thread waits for, by the system call in which it is.
#ifndef OCULAR_TRACER_SAMPLE_WAIT_CALL_H
#define OCULAR_TRACER_SAMPLE_WAIT_CALL_H

#include "ipc/wait_kind.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct WaitCall {
    pid_t tid;      // The thread that is in the system call.
    bool own_files; // True if the caller does not share the thread's files.
    long number;    // Number of the system call; -1 if the thread is in none.
    uint64_t first, second; // The first two arguments of the system call.
};

// Sets *polls to true if the thread waits for any of several descriptors. A
// thread that waits for the GIL is in a lock.
enum WaitKind WaitCall_kind(const struct WaitCall *call, bool *polls);

#endif
