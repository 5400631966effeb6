// SPDX-License-Identifier: MIT
#include "tui/views/header_whole.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/views/header.h"
#include "tui/views/table.h"

#include <math.h>
#include <string.h>

#define STALL_S 30 // The header shows a stall for this number of seconds.
#define MUCH .01   // Larger shares of missing time are shown.
// A larger share of waiting for the GIL is highlighted.
#define MUCH_GIL .1
// A smaller share of waiting for a CPU is not shown.
#define MUCH_STARVED .05

static void add_share(struct Strip *strip, const struct Model *model, int cells)
{
    char bars[4 * TREND_LENGTH], number[NUMBER_MAX];
    float trend[TREND_LENGTH];
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
        // The words before the reason always fit, so only the reason is cut.
        Strip_flex(strip, cells > TREND_CELLS ? 66 : 23);
        return;
    }
    for (int i = 0; i < TREND_LENGTH; i++)
        most = fmax(most, model->trend[i]);
    if (model->past)
        Trend_squeeze(trend, cells, model->trend, TREND_LENGTH);
    else
        memcpy(trend, model->trend + TREND_LENGTH - cells,
               (size_t)cells * sizeof *trend);
    Gauge_trend(bars, sizeof bars, trend, cells, most);
    Strip_add(strip, STYLE_FAINT, "share ");
    Strip_add(strip, STYLE_ACCENT, "%s", bars);
    enum Basis basis = Window_share(number, &model->window, Model_share(model));
    Strip_add(strip, basis == BASIS_FINE ? STYLE_PLAIN : STYLE_FAINT, " %s",
              basis == BASIS_NONE ? "no" : number);
    Strip_add(strip, STYLE_FAINT, " cpu");
}

// Adds the length of the time that the shares cover, and how its samples are
// taken.
static void add_window(struct Strip *strip, const struct Model *model)
{
    const struct Snapshot *snapshot = model->snapshot;
    char text[WINDOW_TEXT];
    if (!*Window_text(text, &model->window))
        return;
    Strip_label(strip, 3, "over", "%s", text);
    unsigned long long signal = snapshot->sampler_signal;
    unsigned long long untimed = snapshot->sampler_untimed;
    if (untimed == NULL_U64) // An older Ocular does not report this number.
        untimed = 0;
    // A recording of a run does not tell how samples were taken.
    if (model->past)
        return;
    Strip_item(strip, signal == NULL_U64 || untimed ? 3 : 6);
    if (signal == NULL_U64)
        Strip_add(strip, STYLE_PARTIAL, "by wall-clock samples");
    else
        Strip_add(strip, STYLE_FAINT, "by CPU timers, signal %llu", signal);
    if (signal != NULL_U64 && untimed)
        Strip_add(strip, STYLE_PARTIAL, ", %llu thread%s without", untimed,
                  untimed == 1 ? "" : "s");
}

static void add_if_much(struct Strip *strip, int importance, enum Style style,
                        const char *label, double share)
{
    char number[NUMBER_MAX];
    if (!(share > MUCH))
        return;
    Strip_put(strip, importance, style, "%s ", label);
    Strip_add(strip, style == STYLE_FAINT ? STYLE_PLAIN : style, "%s",
              Number_percent(number, share));
}

// Adds those shares of time that belong to no row: samples without a complete
// stack, and functions without a row.
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

// Adds the share of time in pauses of the garbage collector. If the terminal is
// wide, also adds the longest pause since tracing began.
static void add_garbage(struct Strip *strip, const struct Snapshot *snapshot,
                        bool wide)
{
    char number[NUMBER_MAX];
    double longest = 0;
    if (!isfinite(snapshot->gc_share))
        return;
    for (size_t i = 0; i < snapshot->gc_generation_count; i++)
        longest = fmax(longest, snapshot->gc_generations[i].longest_s);
    Strip_label(strip, snapshot->gc_share > MUCH ? 2 : 6, "gc", "%s",
                Number_percent(number, snapshot->gc_share));
    if (wide && longest > 0)
        Strip_add(strip, STYLE_FAINT, ", longest %s",
                  Number_ns(number, longest * 1e9));
}

// Adds the newest stall if it ended less than STALL_S seconds
// ago.
static void add_stall(struct Strip *strip, const struct Snapshot *snapshot)
{
    const struct StallRow *stall;
    char number[NUMBER_MAX];
    double ago_s;
    if (!snapshot->stall_count)
        return;
    stall = &snapshot->stalls[snapshot->stall_count - 1];
    ago_s = snapshot->uptime_s - stall->at_s - stall->seconds;
    if (!(ago_s < STALL_S))
        return;
    Strip_put(strip, 1, STYLE_ALERT, "%s %s",
              stall->has_gil == 1 ? "GIL kept" : "loop stalled",
              Number_ns(number, stall->seconds * 1e9));
    Strip_add(strip, STYLE_FAINT, " %.0fs ago (L)", fmax(ago_s, 0));
}

// Adds the share of time in which a thread had the GIL, and the sum of the
// shares in which threads waited for it.
static void add_gil(struct Strip *strip, const struct Snapshot *snapshot)
{
    char number[NUMBER_MAX];
    if (!isfinite(snapshot->gil_held))
        return;
    Strip_label(strip, snapshot->gil_waited > MUCH_GIL ? 2 : 6, "GIL held",
                "%s", Number_percent(number, snapshot->gil_held));
    if (!isfinite(snapshot->gil_waited))
        return;
    Strip_add(strip, STYLE_FAINT, ", waited ");
    Strip_add(strip,
              snapshot->gil_waited > MUCH_GIL ? STYLE_PARTIAL : STYLE_PLAIN,
              "%s", Number_percent(number, snapshot->gil_waited));
}

// If threads often had no CPU, adds the share of the time without a CPU.
static void add_starved(struct Strip *strip, const struct Snapshot *snapshot)
{
    char number[NUMBER_MAX];
    if (!(snapshot->cpu_waited >= MUCH_STARVED))
        return;
    Strip_put(strip, 1, STYLE_ALERT, "waiting for a CPU %s",
              Number_percent(number, snapshot->cpu_waited));
}

// Adds what the shown latencies include, or says that no latencies are known.
static void add_latency(struct Strip *strip, const struct Model *model)
{
    bool known = false;
    for (size_t i = 0; i < model->snapshot->function_count && !known; i++)
        known = isfinite(model->snapshot->functions[i].wall_max_s) ||
                model->snapshot->functions[i].in_flight != NULL_U64;
    Strip_item(strip, known ? 3 : 0);
    if (known)
        Strip_add(strip, STYLE_FAINT, "from begin to return, awaits in");
    else
        Strip_add(strip, STYLE_PROMPT, "no latencies %s",
                  model->past ? "recorded" : "measured");
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
    if (model->latency) {
        add_latency(strip, model);
    } else {
        Strip_put(strip, 8, STYLE_FAINT, "cyc = TSC ticks, wall clock");
    }
    Header_add_own(strip, model);
    if (model->hide_idle) {
        Strip_put(strip, 1, STYLE_PROMPT, "%zu idle hidden", model->hidden);
        Strip_add(strip, STYLE_FAINT, " (i)");
    }
    Strip_item(strip, 2);
    Strip_right(strip);
    Strip_add(strip, STYLE_FAINT, "sort ");
    Strip_add(strip, STYLE_PLAIN, "%s %s", title, up ? "▲" : "▼");
    Strip_put(strip, *model->filter ? 0 : 7, STYLE_FAINT, "filter ");
    Strip_add(strip, *model->filter ? STYLE_PROMPT : STYLE_FAINT, "%s",
              *model->filter ? model->filter : "—");
    Strip_flex(strip, 8);
}

// Returns the number of living threads. An older Ocular lists only living
// threads, for which `ended` is null.
static size_t count_living(const struct Snapshot *snapshot)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->thread_count; i++)
        count += snapshot->threads[i].ended != 1;
    return count;
}

// Adds the share of the chosen thread that was spent in functions without a
// row.
static void add_unlisted(struct Strip *strip, const struct Model *model)
{
    double share = Model_unlisted(model);
    char number[NUMBER_MAX];
    if (!(share >= 0.0005)) // A smaller share would be rounded to zero.
        return;
    Strip_label(strip, 2, "others", "%s", Number_percent(number, share));
}

static void add_threads(struct Strip *strip, const struct Model *model)
{
    const struct Thread *thread = Model_thread(model);
    size_t living = count_living(model->snapshot);
    char number[NUMBER_MAX];
    Number_grouped(number, living);
    if (model->one_thread) {
        Strip_put(strip, 0, STYLE_FAINT, "thread ");
        Strip_add(strip, STYLE_PROMPT, "%.64s",
                  thread && thread->name ? thread->name : "that has ended");
        Strip_flex(strip, 22);
        Strip_add(strip, STYLE_FAINT, " of %s", number);
    } else if (living) {
        Strip_label(strip, 6, "threads", "%s", number);
        Strip_add(strip, STYLE_FAINT, " (all)");
    }
}

static void add_children(struct Strip *strip, unsigned untraced)
{
    if (!untraced)
        return;
    Strip_put(strip, 3, STYLE_ALERT, "%u Python %s not traced", untraced,
              untraced == 1 ? "child is" : "children are");
}

void HeaderWhole_draw(struct Canvas *canvas, const struct Model *model,
                      const struct Status *status)
{
    struct Strip strip;
    Strip_init(&strip);
    add_share(&strip, model,
              canvas->width >= HEADER_WIDEST ? 24
              : canvas->width >= HEADER_WIDE ? 16
                                             : TREND_CELLS);
    if (model->sampled)
        add_window(&strip, model);
    Header_add_specialisation(&strip, model, false);
    add_threads(&strip, model);
    if (!model->past)
        add_stall(&strip, model->snapshot);
    add_children(&strip, status->untraced_children);
    add_unlisted(&strip, model);
    if (!model->one_thread) {
        add_garbage(&strip, model->snapshot, canvas->width >= HEADER_WIDER);
        add_gil(&strip, model->snapshot);
        add_starved(&strip, model->snapshot);
        add_unseen(&strip, model->snapshot);
    }
    add_choices(&strip, model, status);
    Header_draw_line(&strip, canvas, 2);
}
