// SPDX-License-Identifier: MIT
// See column.h.
#include "tui/model/column.h"

#include <math.h>
#include <strings.h>

#define KEY(name, value)                                                       \
    static double name##_key(const struct Row *row)                            \
    {                                                                          \
        return value;                                                          \
    }

KEY(share, Row_share(row))
KEY(trend, row->trend[TREND_LENGTH - 1] - row->trend[TREND_LENGTH - 5])
KEY(total_share, row->part ? NAN : row->now->total_share)
KEY(c_share, row->part ? NAN : row->now->c_share)
KEY(wait_share, row->part ? NAN : row->now->wait_share)
KEY(rate, row->now->calls_per_s)
KEY(calls, Row_best_calls(row))
KEY(avg, row->now->avg_cycles)
KEY(min, row->now->min_cycles)
KEY(p50, row->now->p50_cycles)
KEY(p99, row->now->p99_cycles)
KEY(self, Row_self(row))
KEY(total, Row_total(row))
KEY(waited, Row_waited(row))
// Armed functions come first, then partial, then dark ones; among each, those
// with the oldest data.
KEY(state, (double)row->now->state * 1e12 +
               (isfinite(row->now->age_s) ? row->now->age_s : 0))
KEY(sites, Row_u64(row->now->sites) - Row_u64(row->now->dark_sites))
KEY(spec, row->now->specializable_sites > 0
              ? Row_u64(row->now->specialized_sites) /
                    Row_u64(row->now->specializable_sites)
              : NAN)

const struct Column COLUMNS[COLUMN_COUNT] = {
    [COLUMN_SHARE] = {.name = "share",
                      .sampled = true,
                      .change = CHANGE_SHARE,
                      .key = share_key},
    [COLUMN_TREND] = {.name = "trend", .sampled = true, .key = trend_key},
    [COLUMN_TOTAL_SHARE] = {.name = "total%",
                            .sampled = true,
                            .change = CHANGE_SHARE,
                            .key = total_share_key},
    [COLUMN_C_SHARE] = {.name = "c%",
                        .sampled = true,
                        .change = CHANGE_SHARE,
                        .key = c_share_key},
    [COLUMN_WAIT_SHARE] = {.name = "wait%",
                           .sampled = true,
                           .change = CHANGE_SHARE,
                           .key = wait_share_key},
    [COLUMN_RATE] = {.name = "calls/s", .change = CHANGE_RATE, .key = rate_key},
    [COLUMN_CALLS] = {.name = "calls",
                      .change = CHANGE_COUNT,
                      .key = calls_key},
    [COLUMN_AVG] = {.name = "avg", .change = CHANGE_CYCLES, .key = avg_key},
    [COLUMN_MIN] = {.name = "min", .change = CHANGE_CYCLES, .key = min_key},
    [COLUMN_P50] = {.name = "p50", .change = CHANGE_CYCLES, .key = p50_key},
    [COLUMN_P99] = {.name = "p99", .change = CHANGE_CYCLES, .key = p99_key},
    [COLUMN_SELF] = {.name = "self", .change = CHANGE_SUM, .key = self_key},
    [COLUMN_TOTAL] = {.name = "total", .change = CHANGE_SUM, .key = total_key},
    [COLUMN_WAITED] = {.name = "waited",
                       .change = CHANGE_SUM,
                       .key = waited_key},
    [COLUMN_STATE] = {.name = "state", .key = state_key},
    [COLUMN_SITES] = {.name = "sites", .key = sites_key},
    [COLUMN_SPEC] = {.name = "spec", .change = CHANGE_PART, .key = spec_key},
    [COLUMN_FUNCTION] = {.name = "function", .by_text = true},
    [COLUMN_FILE] = {.name = "file", .by_text = true},
};

enum ColumnId Column_find(const char *name)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcasecmp(COLUMNS[i].name, name) == 0)
            return (enum ColumnId)i;
    return COLUMN_COUNT;
}

double Column_change(enum ColumnId id, const struct Row *row)
{
    double before = row->mark[id], now = COLUMNS[id].key(row);
    if (isnan(before) && COLUMNS[id].change != CHANGE_CYCLES)
        before = 0;
    return now - before;
}

double Column_key(enum ColumnId id, const struct Row *row, bool baseline)
{
    return baseline && COLUMNS[id].change ? Column_change(id, row)
                                          : COLUMNS[id].key(row);
}

const char *Column_text_key(enum ColumnId id, const struct Row *row)
{
    const char *text = id == COLUMN_FILE ? row->now->file : row->now->name;
    return text ? text : "";
}
