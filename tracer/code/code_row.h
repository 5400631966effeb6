// SPDX-License-Identifier: MIT
// Writer: the thread that builds a snapshot (session/builder.c,
// function_row.c): the collector's thread, and the thread that stops the
// session once that thread has ended. Nobody else reads it. The part of struct
// Code with the numbers of earlier rows that a function's next row needs.
#ifndef OCULAR_TRACER_CODE_CODE_ROW_H
#define OCULAR_TRACER_CODE_CODE_ROW_H

#include <stdbool.h>
#include <stdint.h>

struct CodeRow {
    double rate;              // calls a second; NaN: not known
    uint64_t rate_calls;      // calls at rate_at
    double rate_at;           // s of CLOCK_MONOTONIC; 0: never
    bool rate_estimated;      // `rate` is by slices or by shares
    bool rate_dark;           // it was dark at rate_at
    uint32_t rate_dark_times; // dark_times at rate_at
    uint32_t place;           // in struct Roll, if that has it there
    uint64_t quantiles_calls; // self_calls that p50 and p99 are of; 0: none
    bool quantiles_settled;   // self_calls were the same at the snapshot before
    double p50_cycles;        // ticks of self time; 0: not read yet
    double p99_cycles;        // the same
    float spread;             // of the same calls, over their mean
    uint64_t spans_ticks;     // up to which its spans were looked at
    uint32_t spans_open;      // the low half of spans.open_ticks then
    uint32_t spans_calls;     // the low half of calls then
    bool sites_counted;       // the next three are of a snapshot before
    uint32_t site_changes;    // as they were then
    uint32_t sites, dark_sites;
};

#endif
