// SPDX-License-Identifier: MIT
#include "tui/views/header_cost.h"

#include "tui/model/row.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/views/header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// struct Overhead contains the overhead in the unit in which it is shown.
struct Overhead {
    // The measured and the allowed overhead as shares (NaN = unknown).
    // `allowed` is also NaN if there is no budget.
    double measured, allowed;
    double scale; // Factor from the snapshot's shares of CPU time to this unit.
    const char *of;
    // Number of decimals that `allowed` needs to be more than 0 on the screen.
    int decimals;
};

// The overhead can exceed 100 % of the program's CPU time if the program uses
// hardly any. overhead_of therefore returns the overhead as a share of a core.
// An older Ocular does not report the share of a core, so the result is the
// share of the CPU time.
static struct Overhead overhead_of(const struct Snapshot *snapshot)
{
    struct Overhead overhead = {
        .measured = snapshot->overhead_measured,
        .allowed = fmax(snapshot->overhead_allowed, snapshot->overhead_budget),
        .scale = 1,
        .of = "its CPU time",
        .decimals = 1};
    if (isfinite(snapshot->overhead_cores)) {
        overhead.measured = snapshot->overhead_cores;
        overhead.allowed = snapshot->overhead_cores_allowed;
        overhead.of = "a core";
        overhead.scale = overhead.measured / snapshot->overhead_measured;
    }
    while (overhead.allowed > 0 && overhead.decimals < 4 &&
           overhead.allowed * pow(10, overhead.decimals + 2) < .95)
        overhead.decimals++;
    return overhead;
}

// Adds the overhead. The overhead is shown as an alert only if the rounded
// number is also above the limit.
static void add_overhead(struct Strip *strip, const struct Overhead *overhead,
                         int cells)
{
    double measured = overhead->measured, allowed = overhead->allowed;
    char number[NUMBER_MAX] = "-", limit[NUMBER_MAX];
    enum Style style = STYLE_PLAIN;
    if (isfinite(measured))
        snprintf(number, sizeof number, "%.*f", overhead->decimals,
                 measured * 100);
    snprintf(limit, sizeof limit, "%.*f", overhead->decimals, allowed * 100);
    Strip_put(strip, 1, STYLE_FAINT, "overhead ");
    if (isfinite(measured) && allowed > 0) {
        bool over = measured > allowed && strcmp(number, limit) != 0;
        style = over ? STYLE_ALERT : STYLE_ARMED;
        int full = (int)(fmin(fmax(measured / allowed, 0), 1) * cells + 0.5);
        if (cells)
            Strip_add(strip, STYLE_FAINT, "▕");
        for (int i = 0; i < cells; i++)
            Strip_add(strip, i < full ? style : STYLE_FAINT, "%s",
                      i < full ? "█" : "░");
        if (cells)
            Strip_add(strip, STYLE_FAINT, "▏ ");
    }
    Strip_add(strip, style, "%s%s", number, isfinite(measured) ? "%" : "");
    if (isfinite(measured))
        Strip_add(strip, STYLE_FAINT, " of %s", overhead->of);
    if (allowed > 0)
        Strip_add(strip, STYLE_FAINT, ", %s allowed", limit);
}

// Adds the parts of the overhead: hooks, installing hooks again, and Ocular's
// threads.
static void add_parts(struct Strip *strip, const struct Snapshot *snapshot,
                      const struct Overhead *overhead)
{
    const struct {
        double share;
        const char *name;
    } parts[] = {{snapshot->overhead_hooks, "hooks"},
                 {snapshot->overhead_rearm, "re-arm"},
                 {snapshot->overhead_threads, "threads"}};
    Strip_item(strip, 3);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        Strip_add(strip, STYLE_FAINT, "%s%s ", i ? " " : "", parts[i].name);
        Strip_add(strip, STYLE_PLAIN, "%.*f", overhead->decimals,
                  parts[i].share * overhead->scale * 100);
    }
}

static void add_events(struct Strip *strip, const struct Model *model)
{
    const struct Snapshot *snapshot = model->snapshot;
    char number[NUMBER_MAX], rate[NUMBER_MAX + 2];
    uint64_t lost = snapshot->lost;
    if (isfinite(model->tally.events_per_s)) {
        snprintf(rate, sizeof rate, "%s/s",
                 Number_rate(number, model->tally.events_per_s));
        Strip_label(strip, 6, "events", "%s", rate);
        if (model->reset)
            Strip_add(strip, STYLE_FAINT, ", %s since reset",
                      Number_count(number, Row_u64(snapshot->events) -
                                               (double)model->base_events));
    }
    if (lost == NULL_U64)
        return;
    lost -= model->reset && model->base_lost <= lost ? model->base_lost : 0;
    Strip_put(strip, lost ? 0 : 5, lost ? STYLE_ALERT : STYLE_FAINT, "lost ");
    Strip_add(strip, lost ? STYLE_ALERT : STYLE_PLAIN, "%s",
              Number_count(number, (double)lost));
}

static void add_functions(struct Strip *strip, const struct Model *model)
{
    const struct Snapshot *snapshot = model->snapshot;
    char number[NUMBER_MAX];
    uint64_t total = snapshot->functions_total;
    if (total == NULL_U64 || total < snapshot->function_count)
        total = snapshot->function_count;
    Strip_label(strip, 7, "functions", "%s", Number_grouped(number, total));
    if (total > snapshot->function_count)
        Strip_add(strip, STYLE_FAINT, ", the first %s",
                  Number_grouped(number, snapshot->function_count));
}

static void add_states(struct Strip *strip, const struct Tally *tally,
                       bool words)
{
    char age[NUMBER_MAX];
    Strip_put(strip, 2, STYLE_ARMED, "● %zu%s", tally->armed,
              words ? " armed" : "");
    Strip_add(strip, STYLE_PARTIAL, "  ◐ %zu%s", tally->partial,
              words ? " partial" : "");
    Strip_add(strip, STYLE_DARK, "  ○ %zu%s", tally->dark,
              words ? " dark" : "");
    if (!isfinite(tally->oldest_s))
        return;
    Strip_put(strip, 4, STYLE_FAINT, "oldest data ");
    Strip_add(strip, tally->oldest_s > STALE_S ? STYLE_ALERT : STYLE_PLAIN,
              "%s", Number_age(age, tally->oldest_s));
}

void HeaderCost_draw(struct Canvas *canvas, const struct Model *model)
{
    struct Strip strip;
    int width = canvas->width;
    struct Overhead overhead = overhead_of(model->snapshot);
    bool parts = model->snapshot->overhead_measured > 0 &&
                 isfinite(model->snapshot->overhead_hooks);
    Strip_init(&strip);
    add_overhead(&strip, &overhead,
                 width >= HEADER_WIDEST ? 10
                 : width >= HEADER_WIDE ? 6
                                        : 0);
    if (parts)
        add_parts(&strip, model->snapshot, &overhead);
    add_events(&strip, model);
    add_functions(&strip, model);
    add_states(&strip, &model->tally,
               width >= (parts ? HEADER_WIDER : HEADER_WIDE));
    Header_draw_line(&strip, canvas, 1);
}
