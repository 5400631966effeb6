// SPDX-License-Identifier: MIT
// Writer: the thread that builds a snapshot (session/builder.c,
// function_row.c). The collector's thread builds snapshots, and after its end
// the thread that stops the session. No other thread reads the fields. These
// fields of struct Code hold the numbers of earlier rows that the next row
// needs.
#ifndef OCULAR_TRACER_CODE_CODE_ROW_H
#define OCULAR_TRACER_CODE_CODE_ROW_H

#include <stdbool.h>
#include <stdint.h>

struct CodeRow {
    double rate;              // calls per second; NaN: unknown
    uint64_t rate_calls;      // calls at `rate_at`
    double rate_at;           // s of CLOCK_MONOTONIC; 0: never
    bool rate_estimated;      // `rate` comes from shares
    bool rate_dark;           // the function was dark at `rate_at`
    uint32_t rate_dark_times; // dark_times at `rate_at`
    uint32_t place; // index in struct Roll, if Roll has the function there
    uint64_t quantiles_calls; // self_calls when p50 and p99 were read; 0: never
    bool quantiles_settled;   // self_calls had not changed in the last snapshot
    double p50_cycles;        // ticks of self time; 0: not read yet
    double p99_cycles;        // ticks of self time; 0: not read yet
    float spread;         // standard deviation over the mean: of the same calls
    uint64_t spans_ticks; // ticks: the spans were read up to here
    uint32_t spans_open;  // low half of spans.open_ticks at `spans_ticks`
    uint32_t spans_calls; // calls at `spans_ticks`: the low half
    bool sites_counted;   // the next three fields have a snapshot's values
    uint32_t site_changes; // CodeCold.site_changes at this snapshot
    uint32_t sites, dark_sites;
};

#endif
