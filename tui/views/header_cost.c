// SPDX-License-Identifier: MIT
// See header_cost.h.
#include "tui/views/header_cost.h"

#include "tui/model/row.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/views/header_line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Where the budget is next to nothing of a core, more is allowed. The overhead
// is an alert only if it is over the limit in the digits shown, too.
static void add_overhead(struct Strip *strip, const struct Snapshot *snapshot,
                         int cells)
{
    double measured = snapshot->overhead_measured;
    double allowed =
        fmax(snapshot->overhead_allowed, snapshot->overhead_budget);
    char number[NUMBER_MAX], limit[NUMBER_MAX], budget[NUMBER_MAX];
    enum Style style = STYLE_PLAIN;
    Number_percent(number, measured);
    Number_percent(limit, allowed);
    Number_percent(budget, snapshot->overhead_budget);
    Strip_item(strip, 1);
    Strip_add(strip, STYLE_FAINT, "overhead ");
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
    Strip_add(strip, style, "%s", number);
    if (!(allowed > 0))
        return;
    Strip_add(strip, STYLE_FAINT, " of %s", limit);
    if (strcmp(limit, budget) == 0)
        return;
    Strip_add(strip, STYLE_FAINT, " (below 0.2 cores");
    if (cells)
        Strip_add(strip, STYLE_FAINT, "; budget %s", budget);
    Strip_add(strip, STYLE_FAINT, ")");
}

// Adds the parts of the overhead, in per cent.
static void add_parts(struct Strip *strip, const struct Snapshot *snapshot)
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
        Strip_add(strip, STYLE_PLAIN, "%.1f", parts[i].share * 100);
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
        HeaderLine_label(strip, 6, "events", rate);
        if (model->reset)
            Strip_add(strip, STYLE_FAINT, ", %s since reset",
                      Number_count(number, Row_u64(snapshot->events) -
                                               (double)model->base_events));
    }
    if (lost == NULL_U64)
        return;
    lost -= model->reset && model->base_lost <= lost ? model->base_lost : 0;
    Strip_item(strip, lost ? 0 : 5);
    Strip_add(strip, lost ? STYLE_ALERT : STYLE_FAINT, "lost ");
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
    HeaderLine_label(strip, 7, "functions", Number_grouped(number, total));
    if (total > snapshot->function_count)
        Strip_add(strip, STYLE_FAINT, ", the first %s",
                  Number_grouped(number, snapshot->function_count));
}

static void add_states(struct Strip *strip, const struct Tally *tally,
                       bool words)
{
    char age[NUMBER_MAX];
    Strip_item(strip, 2);
    Strip_add(strip, STYLE_ARMED, "● %zu%s", tally->armed,
              words ? " armed" : "");
    Strip_add(strip, STYLE_PARTIAL, "  ◐ %zu%s", tally->partial,
              words ? " partial" : "");
    Strip_add(strip, STYLE_DARK, "  ○ %zu%s", tally->dark,
              words ? " dark" : "");
    if (!isfinite(tally->oldest_s))
        return;
    Strip_item(strip, 4);
    Strip_add(strip, STYLE_FAINT, "oldest data ");
    Strip_add(strip, tally->oldest_s > STALE_S ? STYLE_ALERT : STYLE_PLAIN,
              "%s", Number_age(age, tally->oldest_s));
}

void HeaderCost_draw(struct Canvas *canvas, const struct Model *model)
{
    struct Strip strip;
    int width = canvas->width;
    bool parts = isfinite(model->snapshot->overhead_measured);
    Strip_init(&strip);
    add_overhead(&strip, model->snapshot,
                 width >= HEADER_WIDEST ? 10
                 : width >= HEADER_WIDE ? 6
                                        : 0);
    if (parts)
        add_parts(&strip, model->snapshot);
    add_events(&strip, model);
    add_functions(&strip, model);
    add_states(&strip, &model->tally,
               width >= (parts ? HEADER_WIDER : HEADER_WIDE));
    HeaderLine_draw(&strip, canvas, 1);
}
