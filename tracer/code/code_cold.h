// SPDX-License-Identifier: MIT
// struct CodeCold contains the fields of struct Code that seldom change. A
// thread that counts hits of the function writes fields of struct CodeCold. The
// governor writes fields of struct CodeCold when it arms the function, removes
// the function's hooks (makes it dark), or allocates memory for the function. A
// writer of struct CodeCold holds the counting lock. Any thread may read the
// atomic members of struct CodeCold.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

struct CodeCold {
    _Atomic uint32_t dark_times; // Number of times that the function went dark.
    // Number of times that a site or an instruction went dark, or that all
    // sites were armed.
    _Atomic uint32_t site_changes;
    uint64_t renewed; // Ticks when the sites last got the hits for one second.
    // Estimated number of calls in the dark periods that have ended.
    _Atomic double dark_calls;
    // Sampled ns in dark periods that have ended. `dark_ns` is not converted
    // into calls yet, because too few calls were timed.
    _Atomic uint64_t dark_ns;
    // Sampled ns of the function until it last went dark. The value is 0 if
    // there were no sampled ns, or if the function never went dark.
    _Atomic uint64_t dark_from_ns;
    // Ticks at which the function went dark. For a function that was never
    // armed, ticks at its newest call, from the second call on. The value is 0
    // if the function is armed, or if no call was missed.
    _Atomic uint64_t dark_since;
    bool unarmed; // True if the function was never armed.
    // Not 0 if the code begins steps of event loops. The GIL guards `steps`.
    uint8_t steps;
    // True if a call of the function was running when the code was adopted. Any
    // thread may read `found_running`.
    _Atomic bool found_running;
    // True if asyncio runs the steps of tasks by this function, and the trace
    // has a timeline. The thread that adopts the code writes `begins_tasks`.
    bool begins_tasks;
    // True if the function was called more than once while `unarmed` was true.
    _Atomic bool again;
    // True if the function's jumps and branches are armed when the function is
    // armed. The collector's thread reads `jumps`.
    _Atomic bool jumps;
    // True between two slices if the function calls functions that are armed
    // only in slices. (A slice is a time in which all functions are armed.)
    // While `between` is true, the function is not timed, because its callees'
    // time would count as its own time.
    bool between;
    // True if the function is dark and the `dark_callees` of its callers
    // include it.
    bool reported;
    // The value of RecentMark.calls when Code_age_histogram last halved the
    // histogram. The value is 0 if the histogram was never halved.
    uint64_t aged_calls;
    // The latencies of the function's calls, or NULL before the first call that
    // is timed.
    struct Latency *_Atomic latency;
    // Number of exceptions that the function has raised. The thread that runs
    // the function writes this field, with the GIL.
    counter_t raised;
    // `raised_missed` is the estimated number of exceptions that were not
    // counted until the end of the newest window (exceptions.h). `raised_rate`
    // is the estimated number per ns of CPU time since then. Both fields have
    // the bits of a double. A holder of the GIL writes both.
    counter_t raised_missed, raised_rate;
    // Bytes of memory of the histogram, of `latency` and of the arrays in
    // `links`.
    counter_t grown_bytes;
};
