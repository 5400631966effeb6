// SPDX-License-Identifier: MIT
// These fields of struct Code are written seldom. The thread that counts the
// function's hits writes the fields. The governor writes the fields when the
// function is armed, goes dark or grows. The writer holds the counting lock.
// Any thread reads the atomic members.
#ifndef OCULAR_TRACER_CODE_CODE_COLD_H
#define OCULAR_TRACER_CODE_CODE_COLD_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

// Which ends of a function's calls have an event.
enum CodeEnds {
    ENDS_ALL,
    // An asynchronous generator. From 3.13 on CPython reports no end if the
    // program drops the generator.
    ENDS_MOST,
    // A generator that is no coroutine, and that programs often drop. The
    // latency of its calls is not measured.
    ENDS_FEW
};

struct CodeCold {
    _Atomic uint32_t dark_times; // number of times that the function went dark
    // Number of times that a site or an instruction went dark, or that all
    // sites were armed.
    _Atomic uint32_t site_changes;
    uint64_t renewed; // ticks when the sites last got the hits of a second
    // Estimated calls in dark spells that have ended.
    _Atomic double dark_calls;
    // Sampled ns in dark spells that have ended. These ns are not converted
    // into calls yet, because too few calls were timed.
    _Atomic uint64_t dark_ns;
    // The function's sampled ns at the time when it last went dark. 0 if there
    // were no sampled ns, or if the function never went dark.
    _Atomic uint64_t dark_from_ns;
    // Ticks at which the function went dark, or at which a function that was
    // never armed was found running. 0 if the function is armed, or if no call
    // was missed.
    _Atomic uint64_t dark_since;
    bool unarmed; // true if the function was never armed
    uint8_t ends; // enum CodeEnds; immutable
    // True if a call was running when the code was adopted. Any thread reads
    // this field.
    _Atomic bool found_running;
    // True if asyncio runs the steps of tasks by this function, and there is a
    // timeline. The thread that adopts the code writes this field.
    bool begins_tasks;
    // True if the function was called more than once while `unarmed` was true.
    _Atomic bool again;
    // True if the function's jumps and branches are armed together with the
    // function. The collector reads this field.
    _Atomic bool jumps;
    // True between two slices if the function calls functions that are armed
    // only in slices. The callees' time would then count as the function's own
    // time.
    bool between;
    // True if the function is dark and counted among its callers' dark callees.
    bool reported;
    // RecentMark.calls at the time when Code_age_histogram last halved the
    // histogram. 0 if the histogram was never halved.
    uint64_t aged_calls;
    // NULL before the first call that is timed.
    struct Latency *_Atomic latency;
    // Bytes of the histogram, of `latency` and of the arrays in `links`.
    counter_t grown_bytes;
};

#endif
