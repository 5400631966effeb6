// SPDX-License-Identifier: MIT
#include "tui/views/header.h"

#include "tui/text/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

// The totals of a recording are shown as old if they were written at least
// OLD_TOTALS_S seconds before the end of the run. If the run ended regularly,
// its totals are never old.
#define OLD_TOTALS_S 1.0

// --- Parts of all lines

void Header_draw_line(struct Strip *strip, struct Canvas *canvas, int y)
{
    struct Box box = {y, 1, canvas->width - 2};
    Strip_draw(strip, canvas, box, canvas->width < HEADER_WIDE ? 2 : 3);
}

void Header_add_since(struct Strip *strip, const struct Model *model)
{
    char number[NUMBER_MAX];
    if (model->reset)
        Strip_label(strip, 2, "since reset", "%s",
                    Number_uptime(number, model->snapshot->uptime_s -
                                              model->base_uptime));
    if (model->baseline) {
        Strip_put(strip, 0, STYLE_PROMPT, "change in %s",
                  Number_uptime(number, model->snapshot->uptime_s -
                                            model->baseline_uptime));
        Strip_add(strip, STYLE_FAINT, " (b)");
    }
}

void Header_add_own(struct Strip *strip, const struct Model *model)
{
    if (!model->own_only)
        return;
    Strip_put(strip, 1, STYLE_PROMPT, "own code only");
    Strip_add(strip, STYLE_FAINT, " (O)");
}

void Header_add_filter(struct Strip *strip, const struct Model *model,
                       int least)
{
    Header_add_own(strip, model);
    if (!*model->filter)
        return;
    Strip_item(strip, 0);
    Strip_right(strip);
    Strip_add(strip, STYLE_FAINT, "filter ");
    Strip_add(strip, STYLE_PROMPT, "%s", model->filter);
    Strip_flex(strip, least);
}

void Header_add_specialisation(struct Strip *strip, const struct Model *model,
                               bool sum)
{
    const struct Tally *tally = &model->tally;
    char number[NUMBER_MAX];
    if (tally->specializable > 0) {
        Strip_label(strip, 4, "specialised", "%.0f%%",
                    tally->specialized / tally->specializable * 100);
        Strip_add(strip, STYLE_FAINT, " of %s sites",
                  Number_grouped(number, (uint64_t)tally->specializable));
    }
    if (!isfinite(tally->deopts_per_s))
        return;
    bool some = tally->deopts_per_s >= 0.05;
    Strip_put(strip, some || sum ? 3 : 5, some ? STYLE_ALERT : STYLE_FAINT,
              "deopts ");
    // The rate is a lower bound, because Ocular reads the bytecode only a few
    // times a second and may miss some losses of specialised forms.
    Strip_add(strip, some ? STYLE_ALERT : STYLE_PLAIN, "%s%s/s",
              some ? ">=" : "", Number_rate(number, tally->deopts_per_s));
    if (sum)
        Strip_add(strip, STYLE_FAINT, ", %s%s in all",
                  tally->deopts > 0 ? ">=" : "",
                  Number_count(number, tally->deopts));
}

// --- The process

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
    else if (status->past)
        Strip_add(strip, STYLE_PARTIAL, "■ recording");
    else if (status->replay > 0)
        Strip_add(strip, STYLE_PARTIAL, "▶ replay");
    else
        Strip_add(strip, STYLE_ARMED, "● live");
    if (status->replay > 0 && status->replay != 1)
        Strip_add(strip, STYLE_FAINT, "  %gx", status->replay);
    if (!status->ended && !status->paused && !status->past &&
        !(status->replay > 0))
        Strip_add(strip, STYLE_FAINT, "  %s", rate);
}

// Writes minutes, seconds and tenths in the format that the prompts accept.
static const char *clock_of(char out[NUMBER_MAX], double s)
{
    double tenths = floor(s * 10 + 0.5);
    if (tenths < 600)
        snprintf(out, NUMBER_MAX, "%.1f s", tenths / 10);
    else
        snprintf(out, NUMBER_MAX, "%.0f:%04.1f", floor(tenths / 600),
                 fmod(tenths, 600) / 10);
    return out;
}

// For a recording, adds the shown part of the run, the length of the run, and,
// if the program was killed, the age of the totals.
static void add_stretch(struct Strip *strip, const struct Snapshot *snapshot,
                        const struct Status *status)
{
    char from[NUMBER_MAX], to[NUMBER_MAX], all[NUMBER_MAX];
    bool whole = status->from_s <= 0 && status->to_s >= status->all_s;
    clock_of(from, status->from_s);
    clock_of(to, status->to_s);
    clock_of(all, status->all_s);
    Strip_item(strip, 0);
    if (whole) {
        Strip_add(strip, STYLE_FAINT, "the whole run, ");
        Strip_add(strip, STYLE_PLAIN, "%s", all);
        if (status->all_s - snapshot->totals_s >= OLD_TOTALS_S)
            Strip_put(strip, 4, STYLE_FAINT, "totals of second %.0f",
                      snapshot->totals_s);
        return;
    }
    Strip_add(strip, STYLE_PROMPT, "%s to %s", from, to);
    Strip_add(strip, STYLE_FAINT, " of %s", all);
    if (status->from_s <= status->first_s && status->first_s > 0)
        Strip_add(strip, STYLE_FAINT, ", nothing older is kept");
}

// Adds the rules of a filter. If the terminal is narrow, the last rules are cut
// off.
static void add_rules(struct Strip *strip, const char *label,
                      const struct FilterRule *rules, size_t count)
{
    if (!count)
        return;
    Strip_put(strip, 6, STYLE_FAINT, "%s ", label);
    for (size_t i = 0; i < count; i++)
        Strip_add(strip, STYLE_PLAIN, "%s%.100s", i ? ", " : "",
                  rules[i].text ? rules[i].text : "");
    Strip_flex(strip, 24);
}

static void add_process(struct Strip *strip, const struct Snapshot *snapshot,
                        const struct Status *status)
{
    char number[NUMBER_MAX];
    if (snapshot->pid != NULL_U64) {
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)snapshot->pid);
        Strip_label(strip, 2, "pid", "%s", number);
    }
    if (status->workers || status->unmerged) {
        Strip_put(strip, 1, STYLE_PLAIN, "%u worker%s", status->workers,
                  status->workers == 1 ? "" : "s");
        if (status->unmerged)
            Strip_add(strip, STYLE_ALERT, ", %u more missing",
                      status->unmerged);
        if (status->master_ended)
            Strip_add(strip, STYLE_ALERT, ", master ended");
    }
    Strip_put(strip, 1, STYLE_STRONG, "%s",
              snapshot->command ? snapshot->command : "");
    Strip_flex(strip, 12);
    if (snapshot->python)
        Strip_put(strip, 4, STYLE_PLAIN, "%s%.40s",
                  isdigit((unsigned char)*snapshot->python) ? "CPython " : "",
                  snapshot->python);
    if (snapshot->mode) {
        Strip_put(strip, 5, STYLE_PLAIN, "%.20s", snapshot->mode);
    }
    if (snapshot->threshold != NULL_U64)
        Strip_label(strip, 6, "threshold", "%s",
                    Number_grouped(number, snapshot->threshold));
    add_rules(strip, "excluded", snapshot->filter_exclude,
              snapshot->filter_exclude_count);
    add_rules(strip, "only", snapshot->filter_include_only,
              snapshot->filter_include_only_count);
    if (status->past)
        add_stretch(strip, snapshot, status);
    else if (isfinite(snapshot->uptime_s))
        Strip_label(strip, 3, "up", "%s",
                    Number_uptime(number, snapshot->uptime_s));
}

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status)
{
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_ACCENT, "ocular-top");
    if (canvas->width >= HEADER_WIDE)
        Strip_add(&strip, STYLE_FAINT, " %s", status->version);
    if (model->snapshot)
        add_process(&strip, model->snapshot, status);
    add_state(&strip, status);
    Header_draw_line(&strip, canvas, 0);
}
