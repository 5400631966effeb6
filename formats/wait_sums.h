// SPDX-License-Identifier: MIT
// Sums up the waits of a stretch of a recording, by function and by thread. The
// recording has the waiting time, and weights of those waits whose reason is
// known. The waiting time of a function is divided by the kinds in proportion
// to their weights, as in a live process (gil_watch.c). Only one thread at a
// time may use a struct WaitSums.
#pragma once

#include "formats/sum_table.h"
#include "tracer/sample/flame.h"
#include "tracer/timeline/sample_track.h"

#include <stdbool.h>

struct WaitSums { // All bytes 0 is an empty struct.
    // The key is the id of the function, and the kind whose weight is summed
    // up, or WAIT_UNKNOWN for the waiting time. `ns` is for the function
    // itself, and `total_ns` is for the function anywhere on the stack.
    struct SumTable functions;
    // The key is the thread id, and the kind or WAIT_UNKNOWN. Only `ns` is
    // used.
    struct SumTable threads;
    // The sums of all threads, with the same indices.
    double all[WAIT_KINDS + 1];
    uint32_t stamp; // Number of the newest wait.
};

void WaitSums_release(struct WaitSums *sums);
void WaitSums_clear(struct WaitSums *sums);
void WaitSums_sort(struct WaitSums *sums);
// Adds the fraction `part` of a wait.
void WaitSums_add(struct WaitSums *sums, const struct TimelineSample *sample,
                  double part);
// Adds a sample or a wait to a tree of stacks. Of a wait, only the fraction
// `part` is added.
void WaitSums_draw(struct Flame *flame, const struct TimelineSample *sample,
                   double part);
// Divides the waiting time of a function or a thread by the kinds. Returns the
// waiting time in ns. If a kind is known, sets kinds[] to the ns of each kind,
// and otherwise to NaN. `total` is true for the time with the function anywhere
// on the stack.
double WaitSums_divide(const struct SumTable *table, uint32_t key, bool total,
                       double *kinds);
// Returns the number of recorded waits in the function itself.
uint64_t WaitSums_count(const struct WaitSums *sums, uint32_t id);
// Divides the waiting time of all threads.
double WaitSums_divide_all(const struct WaitSums *sums, double *kinds);
