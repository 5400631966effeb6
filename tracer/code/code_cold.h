// SPDX-License-Identifier: MIT
// struct CodeCold contains the fields of struct Code that seldom change. The
// thread that counts hits writes struct CodeCold, and so does the governor when
// it installs or removes hooks or allocates memory. A writer holds the counting
// lock. Any thread may read the atomic members of struct CodeCold.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

struct CodeCold {
    // Number of times that the function lost its hooks (went dark).
    _Atomic uint32_t dark_times;
    // Number of times that a site or an instruction lost its hook, or that the
    // hooks of all sites were installed.
    _Atomic uint32_t site_changes;
    // Ticks when the sites were last allowed the hits of one second.
    uint64_t renewed;
    // Estimated number of calls in the ended periods without hooks (dark
    // periods).
    _Atomic double dark_calls;
    // Sampled ns in ended periods without hooks. `dark_ns` is not converted
    // into calls yet, because too few calls were timed.
    _Atomic uint64_t dark_ns;
    // Sampled ns of the function until it last lost or got its hooks. If these
    // ns have decreased since then because of a long call, the larger number. 0
    // if there were no sampled ns, or if the function always had its hooks.
    _Atomic uint64_t dark_from_ns;
    // Ticks at which the function lost its hooks. If the function never had
    // hooks, ticks at its newest call, from the second call on. `dark_since` is
    // 0 if the function has hooks, or if no call was missed.
    _Atomic uint64_t dark_since;
    bool unarmed; // True if the function never had hooks.
    // Not 0 if each call of the function begins a step (callback) of an event
    // loop. The GIL guards `steps`.
    uint8_t steps;
    // True if a call can be in flight that began before the function had hooks.
    // Any thread may read `early`.
    _Atomic bool early;
    // True if the trace has a timeline and asyncio runs tasks by calls of this
    // function. The thread that finds the code writes `begins_tasks`.
    bool begins_tasks;
    // True if the function was called more than once while `unarmed` was true.
    _Atomic bool again;
    // True if the function's jumps and branches have hooks whenever its other
    // sites have them. The collector's thread reads `jumps`.
    _Atomic bool jumps;
    // True between two slices if the function calls functions that have hooks
    // only in slices. (In a slice all functions have hooks.)
    bool between;
    // True if the function has no hooks and is counted in the `dark_callees` of
    // its callers.
    bool reported;
    // The value of RecentMark.calls when Code_age_histogram last halved the
    // histogram. 0 if it never did.
    uint64_t aged_calls;
    // The latencies of the function's calls, or NULL before the first timed
    // call.
    struct Latency *_Atomic latency;
    // Number of exceptions that the function has raised. The thread that runs
    // the function writes this field, with the GIL.
    counter_t raised;
    // `raised_missed` is the estimated number of exceptions that were not
    // counted before the end of the newest window. Exceptions are counted in
    // windows (exceptions.h). `raised_rate` is the estimated number per ns of
    // CPU time after the window. `raised_missed` and `raised_rate` have the
    // bits of a double. A holder of the GIL writes both fields.
    counter_t raised_missed, raised_rate;
};
