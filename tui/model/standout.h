// SPDX-License-Identifier: MIT
// struct Standouts tells for each function which of several processes stands
// out by its numbers. merge.c makes the list, and the model copies it into its
// rows.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// A process stands out if its share or latency is at least STANDOUT_TIMES times
// the usual share or latency of the other processes. The share must also be at
// least STANDOUT_SHARE of a core, and the latency at least STANDOUT_S seconds.
#define STANDOUT_TIMES 2.0
#define STANDOUT_SHARE 0.02
#define STANDOUT_S 0.001

struct Standout {
    pid_t pid; // The process with the largest number (0 = unknown).
    // The number of this process divided by the usual number of the other
    // processes (NaN = unknown).
    double times;
    bool out; // True if the process stands out.
};

struct FunctionStandouts {
    // The process in which the function runs most, by its share, or by its
    // calls per second if there are no shares. The usual number is the mean of
    // the other workers.
    struct Standout busy;
    // The process in which the function is slowest, by its P99 or by the age of
    // a call that hangs. The usual number is the median of the other processes
    // that have a number.
    struct Standout slow;
};

struct Standouts {
    // Owned array, indexed by the function's id - 1.
    struct FunctionStandouts *items;
    size_t count;
};
