// SPDX-License-Identifier: MIT
// Sums up the waits of a stretch of a recording, by function and by thread. The
// recording contains the waiting time, and a weight for each wait whose reason
// is known. The waiting time of a function is divided among the kinds in
// proportion to their weights, as in a live process (gil_watch.c). Only one
// thread at a time may use a struct WaitSums.
#pragma once

#include "formats/sum_table.h"
#include "tracer/sample/flame.h"
#include "tracer/timeline/sample_track.h"

#include <stdbool.h>

struct WaitSums { // An empty struct has only zero bytes.
    // Sums by the id of the function and by the kind of wait, or by
    // WAIT_UNKNOWN for the whole waiting time. `ns` is the time of the function
    // itself, and `total_ns` is the time with the function anywhere on the
    // stack.
    struct SumTable functions;
    // Sums by the thread id and by the kind of wait, or by WAIT_UNKNOWN. Only
    // `ns` is used.
    struct SumTable threads;
    // The sums of all threads, with one element for each kind and for
    // WAIT_UNKNOWN.
    double all[WAIT_KINDS + 1];
    uint32_t stamp; // Number of the newest wait.
};

void WaitSums_release(struct WaitSums *sums);
void WaitSums_sort(struct WaitSums *sums);
// Adds the fraction `part` of a wait.
void WaitSums_add(struct WaitSums *sums, const struct TimelineSample *sample,
                  double part);
// Adds a sample or a wait to a tree of stacks. Of a wait, only the fraction
// `part` is added.
void WaitSums_draw(struct Flame *flame, const struct TimelineSample *sample,
                   double part);
// Divides the waiting time of a function or a thread among the kinds of waits.
// Returns the waiting time in ns. If a kind is known, sets kinds[] to the ns of
// each kind. If no kind is known, sets kinds[] to NaN. If `total` is true, the
// time is that with the function anywhere on the stack.
double WaitSums_divide(const struct SumTable *table, uint32_t key, bool total,
                       double *kinds);
// Returns the number of recorded waits in the function itself.
uint64_t WaitSums_count(const struct WaitSums *sums, uint32_t id);
// Divides the waiting time of all threads among the kinds of waits.
double WaitSums_divide_all(const struct WaitSums *sums, double *kinds);
