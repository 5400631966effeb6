// SPDX-License-Identifier: MIT
// Finds out what a thread waits for, by the system call in which it is.
#pragma once

#include "tracer/base/share.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct WaitCall {
    pid_t tid;      // Id of the thread.
    bool own_files; // True if the caller has its own table of descriptors.
    long number; // Number of the system call, or -1 if the thread is in none.
    uint64_t first, second; // The first two arguments of the system call.
};

// Returns what a thread waits for that is in the system call, or WAIT_UNKNOWN
// if the descriptor cannot be read. A wait for the GIL is a WAITS_LOCK. Sets
// *polls to true if the thread waits for any of several descriptors.
enum WaitKind WaitCall_kind(const struct WaitCall *call, bool *polls);
