// SPDX-License-Identifier: MIT
// These fields of struct Code hold numbers of the function's earlier rows,
// because the next row needs these numbers. The thread that builds a snapshot
// writes the fields (session/builder.c, function_row.c). The collector's thread
// builds snapshots. After the end of this thread, the thread that stops the
// session builds the last snapshot. No other thread reads the fields.
#ifndef OCULAR_TRACER_CODE_CODE_ROW_H
#define OCULAR_TRACER_CODE_CODE_ROW_H

#include <stdbool.h>
#include <stdint.h>

struct CodeRow {
    double rate;         // calls per second; NaN if unknown
    uint64_t rate_calls; // calls at `rate_at`
    // time of CLOCK_MONOTONIC in seconds; 0 if `rate` was never set
    double rate_at;
    bool rate_estimated; // true if `rate` was computed from shares
    bool rate_dark;      // true if the function was dark at `rate_at`
    // True if the last snapshot found self_calls unchanged.
    bool quantiles_settled;
    // true if a snapshot has set the fields about sites
    bool sites_counted;
    uint32_t rate_dark_times; // dark_times at `rate_at`
    // index of the function in struct Roll, if the function is in Roll
    uint32_t place;
    // Standard deviation divided by the mean. Both are of the calls from which
    // p50 and p99 were computed.
    float spread;
    // self_calls at the reading of p50 and p99; 0 before the first reading.
    uint64_t quantiles_calls;
    float p50_cycles; // median ticks of self time; 0 before the first reading
    // ticks of self time, 99th percentile; 0 before the first reading
    float p99_cycles;
    uint64_t spans_ticks;  // ticks at which the spans were last read
    uint32_t spans_open;   // low 32 bits of spans.open_ticks at `spans_ticks`
    uint32_t spans_calls;  // low 32 bits of the calls at `spans_ticks`
    uint32_t site_changes; // CodeCold.site_changes in the snapshot
    uint32_t sites, dark_sites;
};

#endif
