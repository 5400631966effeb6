// SPDX-License-Identifier: MIT
// struct CodeRow keeps values of the function's earlier rows, because the next
// row is computed from them. The thread that builds a snapshot writes struct
// CodeRow (session/builder.c, function_row.c). The collector's thread builds
// all snapshots except the last one. After the end of the collector's thread,
// the thread that stops the session builds the last snapshot. No other thread
// reads struct CodeRow.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// enum RateKind says what CodeRow.rate is while the calls since CodeRow.rate_at
// are counted.
enum RateKind {
    RATE_SHORT, // The rate until `rate_at`. A new rate replaces it at once.
    RATE_GROWS, // The rate since `rate_at`.
    RATE_HOLDS, // The rate until `rate_at`, which was counted for long.
};

struct CodeRow {
    double rate;         // Calls per second, or NaN if unknown.
    uint64_t rate_calls; // Number of calls when `rate` was set.
    // CLOCK_MONOTONIC in seconds when `rate` was set, or 0 before the first
    // time.
    double rate_at;
    // True if `rate` was computed from the shares of samples.
    bool rate_estimated : 1;
    unsigned char rate_kind : 2; // An enum RateKind.
    // True if the function had no hooks (was dark) at the time `rate_at`.
    bool rate_dark;
    // True if the last snapshot found the same self_calls as the snapshot
    // before.
    bool quantiles_settled;
    // True if a snapshot has set the row's fields about sites.
    bool sites_counted;
    uint32_t rate_dark_times; // CodeCold.dark_times at the time `rate_at`.
    // Index in struct Roll, valid if the function is in struct Roll.
    uint32_t place;
    // Standard deviation of the calls' self time, divided by the mean. `spread`
    // is computed from the same calls as p50 and p99.
    float spread;
    // `self_calls` when p50 and p99 were last computed, or 0 before the first
    // time.
    uint64_t quantiles_calls;
    // Median of the calls' self time in ticks, or 0 before the first
    // computation.
    float p50_cycles;
    // 99th percentile of the calls' self time in ticks, or 0 before the first
    // computation.
    float p99_cycles;
    uint64_t spans_ticks; // Ticks at which struct CodeSpans was last read.
    // Low 32 bits of spans.open_ticks at the time `spans_ticks`.
    uint32_t spans_open;
    // Low 32 bits of the number of calls at the time `spans_ticks`.
    uint32_t spans_calls;
    uint32_t site_changes; // CodeCold.site_changes at the newest snapshot.
    uint32_t sites, dark_sites;
};
