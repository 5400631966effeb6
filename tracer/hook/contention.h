// SPDX-License-Identifier: MIT
// Describes how the threads of the process share the GIL, and how the programs
// of the machine share the CPUs. The counting thread decides by struct
// Contention whether a thread ran without a break between two of its events.
// All thread records share one struct Contention. The counting thread and the
// governor write struct Contention while they hold the counting lock. A thread
// that holds the GIL may read the fields that the governor writes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct Contention {
    // struct ThreadTrace of the thread with the newest hit.
    const void *last_trace;
    // If fewer ticks than this lie between two events, Ocular does not check
    // whether other threads or programs ran.
    int64_t brief_span;
    // If more ticks than this lie between two events, another thread must have
    // run. The value is INT64_MAX while the process has only one thread.
    int64_t long_span;
    double hz;      // Ticks per second.
    uint32_t armed; // Number of times that hooks were installed, modulo 2^32.
    // True if other programs often take the CPU from the process. `preempted`
    // is true until the first measurement. Only the governor writes
    // `preempted`.
    bool preempted;
};

void Contention_init(struct Contention *contention, double hz);
// Sets the time in seconds for which a thread may run before it must give up
// the GIL. If `turn_s` is 0, the process has only one thread.
void Contention_share(struct Contention *contention, double turn_s);
