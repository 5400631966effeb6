// SPDX-License-Identifier: MIT
#include "tui/model/tally.h"

#include "tui/model/deopt.h"
#include "tui/model/row.h"

void Tally_init(struct Tally *tally)
{
    *tally = (struct Tally){.oldest_s = NAN,
                            .share = NAN,
                            .events_per_s = NAN,
                            .deopts_per_s = NAN};
}

static double total_share(const struct Snapshot *snapshot)
{
    double sum = NAN;
    for (size_t i = 0; i < snapshot->thread_count; i++)
        sum = Row_sum(sum, snapshot->threads[i].cpu_share);
    if (!isnan(sum))
        return sum;
    for (size_t i = 0; i < snapshot->function_count; i++)
        sum = Row_sum(sum, snapshot->functions[i].share);
    return sum;
}

static void add_function(struct Tally *tally, const struct Function *function)
{
    if (function->state == STATE_ARMED)
        tally->armed++;
    else if (function->state == STATE_PARTIAL)
        tally->partial++;
    else if (function->state == STATE_DARK)
        tally->dark++;
    if (function->state != STATE_ARMED && Row_may_run(function))
        tally->oldest_s = fmax(tally->oldest_s, function->age_s);
    if (function->specializable_sites != NULL_U64 &&
        function->specialized_sites != NULL_U64) {
        tally->specialized += (double)function->specialized_sites;
        tally->specializable += (double)function->specializable_sites;
    }
}

// If both snapshots have the same uptime, the previous rates stay.
static void update_rates(struct Tally *tally, const struct Snapshot *now,
                         const struct Snapshot *before)
{
    double deopts = Deopt_total(now);
    double span = before ? now->uptime_s - before->uptime_s : NAN;
    if (before && span > 0) {
        double events = Row_u64(now->events) - Row_u64(before->events);
        // If `events` is NaN, the rate is NaN, too.
        tally->events_per_s = events < 0 ? 0 : events / span;
        // A snapshot without pairs comes from a process that does not record
        // transitions.
        if (now->transition_pair_count)
            tally->deopts_per_s = fmax(deopts - tally->deopts, 0) / span;
    }
    tally->deopts = deopts;
}

void Tally_update(struct Tally *tally, const struct Snapshot *now,
                  const struct Snapshot *before)
{
    update_rates(tally, now, before);
    tally->armed = tally->partial = tally->dark = 0;
    tally->specialized = tally->specializable = 0;
    tally->oldest_s = NAN;
    tally->share = total_share(now);
    for (size_t i = 0; i < now->function_count; i++)
        add_function(tally, &now->functions[i]);
}
