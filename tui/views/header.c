// SPDX-License-Identifier: MIT
// See header.h.
#include "tui/views/header.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/text/number.h"
#include "tui/views/table.h"
#include "tui/views/table_cell.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WIDE 110   // from here on there is room for bars,
#define WIDER 140  // words beside what the overhead is made of,
#define WIDEST 170 // and long bars
#define MUCH .01   // what is left out is told from here on

static void draw(struct Strip *strip, struct Canvas *canvas, int y)
{
    struct Box box = {y, 1, canvas->width - 2};
    Strip_draw(strip, canvas, box, canvas->width < WIDE ? 2 : 3);
}

static void labelled(struct Strip *strip, int importance, const char *label,
                     const char *value)
{
    Strip_item(strip, importance);
    Strip_add(strip, STYLE_FAINT, "%s ", label);
    Strip_add(strip, STYLE_PLAIN, "%s", value);
}

// --- First line: who is watched

static void add_state(struct Strip *strip, const struct Status *status)
{
    char rate[NUMBER_MAX], silent[NUMBER_MAX];
    Strip_item(strip, 0);
    Strip_right(strip);
    Number_seconds(rate, status->rate_s);
    if (status->ended)
        Strip_add(strip, STYLE_ALERT, "○ ended");
    else if (status->paused)
        Strip_add(strip, STYLE_PARTIAL, "‖ paused");
    else if (status->silent_s > 0)
        Strip_add(strip, STYLE_ALERT, "◐ silent for %s",
                  Number_age(silent, status->silent_s));
    else if (status->replay > 0)
        Strip_add(strip, STYLE_PARTIAL, "▶ replay");
    else
        Strip_add(strip, STYLE_ARMED, "● live");
    if (status->replay > 0 && status->replay != 1)
        Strip_add(strip, STYLE_FAINT, "  %gx", status->replay);
    if (!status->ended && !status->paused && !(status->replay > 0))
        Strip_add(strip, STYLE_FAINT, "  %s", rate);
}

static void add_process(struct Strip *strip, const struct Snapshot *snapshot)
{
    char number[NUMBER_MAX];
    if (snapshot->pid != NULL_U64) {
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)snapshot->pid);
        labelled(strip, 2, "pid", number);
    }
    Strip_item(strip, 1);
    Strip_add(strip, STYLE_STRONG, "%s",
              snapshot->command ? snapshot->command : "");
    Strip_flex(strip, 12);
    if (snapshot->python) {
        Strip_item(strip, 4);
        Strip_add(strip, STYLE_PLAIN, "%s%.40s",
                  isdigit((unsigned char)*snapshot->python) ? "CPython " : "",
                  snapshot->python);
    }
    if (snapshot->mode) {
        Strip_item(strip, 5);
        Strip_add(strip, STYLE_PLAIN, "%.20s", snapshot->mode);
    }
    if (snapshot->threshold != NULL_U64)
        labelled(strip, 6, "threshold",
                 Number_grouped(number, snapshot->threshold));
    if (isfinite(snapshot->uptime_s))
        labelled(strip, 3, "up", Number_uptime(number, snapshot->uptime_s));
}

void Header_draw_process(struct Canvas *canvas, const struct Model *model,
                         const struct Status *status)
{
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_ACCENT, "ocular-top");
    if (canvas->width >= WIDE)
        Strip_add(&strip, STYLE_FAINT, " %s", status->version);
    if (model->snapshot)
        add_process(&strip, model->snapshot);
    add_state(&strip, status);
    draw(&strip, canvas, 0);
}

// --- Second line: what watching costs

// More than the budget is allowed where that is next to nothing of a core.
// What is too much is also seen to be more.
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

// What the overhead is made of, in per cent.
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
        labelled(strip, 6, "events", rate);
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
    labelled(strip, 7, "functions", Number_grouped(number, total));
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

static void draw_cost(struct Canvas *canvas, const struct Model *model)
{
    struct Strip strip;
    int width = canvas->width;
    bool parts = isfinite(model->snapshot->overhead_measured);
    Strip_init(&strip);
    add_overhead(&strip, model->snapshot,
                 width >= WIDEST ? 10
                 : width >= WIDE ? 6
                                 : 0);
    if (parts)
        add_parts(&strip, model->snapshot);
    add_events(&strip, model);
    add_functions(&strip, model);
    add_states(&strip, &model->tally, width >= (parts ? WIDER : WIDE));
    draw(&strip, canvas, 1);
}

// --- Third line: how it fares as a whole

static void add_share(struct Strip *strip, const struct Model *model, int cells)
{
    char bars[4 * TREND_LENGTH], number[NUMBER_MAX];
    double most = 1;
    Strip_item(strip, 1);
    if (!isfinite(Model_share(model))) {
        if (isfinite(model->snapshot->sampler_hz)) {
            Strip_add(strip, STYLE_FAINT, "no sample yet");
            return;
        }
        Strip_add(strip, STYLE_FAINT, "shares are not sampled");
        if (model->snapshot->sampler_trouble)
            Strip_add(strip, STYLE_ALERT, ": %.200s",
                      model->snapshot->sampler_trouble);
        Strip_flex(strip, cells > TREND_CELLS ? 66 : 23); // the first words
        return;
    }
    for (int i = 0; i < TREND_LENGTH; i++)
        most = fmax(most, model->trend[i]);
    Gauge_trend(bars, sizeof bars, model->trend + TREND_LENGTH - cells, cells,
                most);
    Strip_add(strip, STYLE_FAINT, "share ");
    Strip_add(strip, STYLE_ACCENT, "%s", bars);
    enum Basis basis = Window_share(number, &model->window, Model_share(model));
    Strip_add(strip, basis == BASIS_FINE ? STYLE_PLAIN : STYLE_FAINT, " %s",
              basis == BASIS_NONE ? "no" : number);
    Strip_add(strip, STYLE_FAINT, " cpu");
}

// What the shares rest on, and where the samples come from.
static void add_window(struct Strip *strip, const struct Model *model)
{
    const struct Snapshot *snapshot = model->snapshot;
    char text[WINDOW_TEXT];
    if (!*Window_text(text, &model->window))
        return;
    Strip_item(strip, 3);
    Strip_add(strip, STYLE_FAINT, "over ");
    Strip_add(strip, STYLE_PLAIN, "%s", text);
    Strip_item(strip, snapshot->sampler_signal == NULL_U64 ? 3 : 6);
    if (snapshot->sampler_signal == NULL_U64)
        Strip_add(strip, STYLE_PARTIAL, "by looks alone");
    else
        Strip_add(strip, STYLE_FAINT, "by CPU timers, signal %llu",
                  (unsigned long long)snapshot->sampler_signal);
}

static void add_if_much(struct Strip *strip, int importance, enum Style style,
                        const char *label, double share)
{
    char number[NUMBER_MAX];
    if (!(share > MUCH))
        return;
    Strip_item(strip, importance);
    Strip_add(strip, style, "%s ", label);
    Strip_add(strip, style == STYLE_FAINT ? STYLE_PLAIN : style, "%s",
              Number_percent(number, share));
}

// What the rows below do not tell: samples without a whole stack, which their
// shares lack, and time in what has no row (the help has these words).
static void add_unseen(struct Strip *strip, const struct Snapshot *snapshot)
{
    double samples = Row_u64(snapshot->sampler_samples), gone = 0;
    for (size_t i = 0; i < snapshot->retired_count; i++)
        if (isfinite(snapshot->retired[i].run_share))
            gone += snapshot->retired[i].run_share;
    add_if_much(strip, 3, STYLE_ALERT, "unread",
                Row_u64(snapshot->sampler_unknown) / samples);
    add_if_much(strip, 3, STYLE_ALERT, "too deep",
                Row_u64(snapshot->sampler_truncated) / samples);
    add_if_much(strip, 7, STYLE_FAINT, "untraced", snapshot->sampler_elsewhere);
    add_if_much(strip, 7, STYLE_FAINT, "gone", gone);
}

static void add_specialisation(struct Strip *strip, const struct Tally *tally)
{
    char number[NUMBER_MAX];
    if (tally->specializable > 0) {
        Strip_item(strip, 4);
        Strip_add(strip, STYLE_FAINT, "specialised ");
        Strip_add(strip, STYLE_PLAIN, "%.0f%%",
                  tally->specialized / tally->specializable * 100);
        Strip_add(strip, STYLE_FAINT, " of %s sites",
                  Number_grouped(number, (uint64_t)tally->specializable));
    }
    if (isfinite(tally->deopts_per_s)) {
        bool some = tally->deopts_per_s >= 0.05;
        Strip_item(strip, some ? 3 : 5);
        Strip_add(strip, some ? STYLE_ALERT : STYLE_FAINT, "deopts ");
        // Bytecode is looked at a few times a second: there may be more.
        Strip_add(strip, some ? STYLE_ALERT : STYLE_PLAIN, "%s%s/s",
                  some ? ">=" : "", Number_rate(number, tally->deopts_per_s));
    }
}

void Header_add_since(struct Strip *strip, const struct Model *model)
{
    char number[NUMBER_MAX];
    if (model->reset)
        labelled(strip, 2, "since reset",
                 Number_uptime(number,
                               model->snapshot->uptime_s - model->base_uptime));
    if (model->baseline) {
        Strip_item(strip, 0);
        Strip_add(strip, STYLE_PROMPT, "change in %s",
                  Number_uptime(number, model->snapshot->uptime_s -
                                            model->baseline_uptime));
        Strip_add(strip, STYLE_FAINT, " (b)");
    }
}

static void add_choices(struct Strip *strip, const struct Model *model,
                        const struct Status *status)
{
    enum ColumnId id = Model_sort_column(model);
    const char *title = TABLE[id].time_title && status->display.ns
                            ? TABLE[id].time_title
                            : TABLE[id].title;
    bool up = COLUMNS[id].by_text != model->invert;
    Header_add_since(strip, model);
    Strip_item(strip, 8);
    Strip_add(strip, STYLE_FAINT, "cyc = TSC ticks, wall clock");
    if (model->hide_idle) {
        Strip_item(strip, 1);
        Strip_add(strip, STYLE_PROMPT, "%zu idle hidden", model->hidden);
        Strip_add(strip, STYLE_FAINT, " (i)");
    }
    Strip_item(strip, 2);
    Strip_right(strip);
    Strip_add(strip, STYLE_FAINT, "sort ");
    Strip_add(strip, STYLE_PLAIN, "%s %s", title, up ? "▲" : "▼");
    Strip_item(strip, *model->filter ? 0 : 7);
    Strip_add(strip, STYLE_FAINT, "filter ");
    Strip_add(strip, *model->filter ? STYLE_PROMPT : STYLE_FAINT, "%s",
              *model->filter ? model->filter : "—");
    Strip_flex(strip, 8);
}

// An older process lists no others, and says nothing of them (null).
static size_t count_living(const struct Snapshot *snapshot)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->thread_count; i++)
        count += snapshot->threads[i].ended != 1;
    return count;
}

// A thread's rows do not add up to what it has: this is the rest.
static void add_unlisted(struct Strip *strip, const struct Model *model)
{
    double share = Model_unlisted(model);
    char number[NUMBER_MAX];
    if (!(share >= 0.0005)) // it would be written as zero
        return;
    Strip_item(strip, 2);
    Strip_add(strip, STYLE_FAINT, "others ");
    Strip_add(strip, STYLE_PLAIN, "%s", Number_percent(number, share));
}

static void add_threads(struct Strip *strip, const struct Model *model)
{
    const struct Thread *thread = Model_thread(model);
    size_t living = count_living(model->snapshot);
    char number[NUMBER_MAX];
    Number_grouped(number, living);
    if (model->one_thread) {
        Strip_item(strip, 0);
        Strip_add(strip, STYLE_FAINT, "thread ");
        Strip_add(strip, STYLE_PROMPT, "%.64s",
                  thread && thread->name ? thread->name : "that has ended");
        Strip_flex(strip, 22);
        Strip_add(strip, STYLE_FAINT, " of %s", number);
    } else if (living) {
        labelled(strip, 6, "threads", number);
        Strip_add(strip, STYLE_FAINT, " (all)");
    }
}

static void add_children(struct Strip *strip, unsigned untraced)
{
    if (!untraced)
        return;
    Strip_item(strip, 3);
    Strip_add(strip, STYLE_ALERT, "%u Python %s not traced", untraced,
              untraced == 1 ? "child is" : "children are");
}

static void draw_whole(struct Canvas *canvas, const struct Model *model,
                       const struct Status *status)
{
    struct Strip strip;
    Strip_init(&strip);
    add_share(&strip, model,
              canvas->width >= WIDEST ? 24
              : canvas->width >= WIDE ? 16
                                      : TREND_CELLS);
    if (model->sampled)
        add_window(&strip, model);
    add_specialisation(&strip, &model->tally);
    add_threads(&strip, model);
    add_children(&strip, status->untraced_children);
    add_unlisted(&strip, model);
    if (!model->one_thread)
        add_unseen(&strip, model->snapshot);
    add_choices(&strip, model, status);
    draw(&strip, canvas, 2);
}

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status)
{
    Header_draw_process(canvas, model, status);
    if (!model->snapshot)
        return;
    draw_cost(canvas, model);
    draw_whole(canvas, model, status);
}
