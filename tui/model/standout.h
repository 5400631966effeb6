// SPDX-License-Identifier: MIT
// Says for each function which of several processes stands out. merge.c makes
// the list, and the model copies it into its rows.
#ifndef OCULAR_TUI_MODEL_STANDOUT_H
#define OCULAR_TUI_MODEL_STANDOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// A process stands out if its number is at least STANDOUT_TIMES the usual
// number of the others, and at least a share of STANDOUT_SHARE of a core, or a
// latency of STANDOUT_S seconds.
#define STANDOUT_TIMES 2.0
#define STANDOUT_SHARE 0.02
#define STANDOUT_S 0.001

struct Standout {
    pid_t pid; // the process with the largest number; 0: not known
    // Its number, divided by the usual number of the others; NaN: not known.
    double times;
    bool out; // the process stands out
};

struct FunctionStandouts {
    // By the share, or by the calls a second if there are no shares. The usual
    // number is the mean of the other workers.
    struct Standout busy;
    // By P99, or by the age of a call that hangs. The usual number is the
    // median of the others that have one.
    struct Standout slow;
};

struct Standouts {
    struct FunctionStandouts *items; // at the function's id - 1; owned
    size_t count;
};

#endif
