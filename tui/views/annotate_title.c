// SPDX-License-Identifier: MIT
// See annotate_title.h.
#include "tui/views/annotate_title.h"

#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"
#include "tui/views/ui.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define FEW_SAMPLES                                                            \
    1000.0 // the title says how many samples there are, if fewer

static void add_calls(struct Strip *strip, const struct Row *row)
{
    char number[NUMBER_MAX];
    double best = Row_best_calls(row), seen = Row_calls(row);
    bool exact = Row_calls_exact(row);
    bool known = isfinite(Row_estimated(row)) && Row_is_sure(row);
    if (!isfinite(best))
        return;
    Strip_item(strip, 3);
    Strip_add(strip, STYLE_FAINT, "calls ");
    Strip_add(strip, STYLE_PLAIN, "%s%s",
              exact   ? ""
              : known ? "~"
                      : ">=",
              Number_count(number, best));
    if (!exact && known && isfinite(seen))
        Strip_add(strip, STYLE_FAINT, " (seen >=%s)",
                  Number_count(number, seen));
}

static void add_cycles(struct Strip *strip, const char *what,
                       const char *cycles, const struct Display *display,
                       int importance)
{
    Strip_item(strip, importance);
    Strip_add(strip, STYLE_FAINT, "%s ", what);
    Strip_add(strip, STYLE_PLAIN, "%s%s", cycles,
              display->ns && display->tsc_hz > 0 ? "" : " cyc");
}

static void add_state(struct Strip *strip, const struct Function *now)
{
    static const struct {
        const char *mark;
        uint8_t style;
    } states[] = {[STATE_ARMED] = {"●", STYLE_ARMED},
                  [STATE_PARTIAL] = {"◐", STYLE_PARTIAL},
                  [STATE_DARK] = {"○", STYLE_DARK}};
    char number[NUMBER_MAX];
    if (now->state > STATE_DARK)
        return;
    Strip_item(strip, 2);
    Strip_add(strip, states[now->state].style, "%s", states[now->state].mark);
    if (now->sites != NULL_U64 && now->dark_sites <= now->sites)
        Strip_add(strip, STYLE_PLAIN, " %llu of %llu sites armed",
                  (unsigned long long)(now->sites - now->dark_sites),
                  (unsigned long long)now->sites);
    if (isfinite(now->age_s)) {
        Strip_item(strip, 5);
        Strip_add(strip, STYLE_FAINT, "age ");
        Strip_add(strip, STYLE_PLAIN, "%s", Number_age(number, now->age_s));
    }
}

static void add_place(struct Strip *strip, const char *file, uint64_t line)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char name[80];
    if (!file)
        return;
    Text_clean(name, sizeof name,
               Text_tail(slash && slash[1] ? slash + 1 : file, 76));
    Strip_item(strip, 4);
    Strip_add(strip, STYLE_FAINT, "%s", name);
    if (line != NULL_U64)
        Strip_add(strip, STYLE_FAINT, ":%llu", (unsigned long long)line);
}

// Says what the shares rest on, where that is little or not the whole run.
static void add_period(struct Strip *strip, const struct AnnotateState *state)
{
    const char *about = History_about(&state->history, state->period);
    bool whole = state->period == PERIOD_SINCE && !state->history.mark.totals;
    double samples = state->annotation.samples;
    if (!isfinite(samples) || (whole && !(samples > 0)) ||
        (whole && samples >= FEW_SAMPLES))
        return;
    Strip_item(strip, whole ? 8 : 2);
    Strip_add(strip, STYLE_FAINT, "shares of ");
    Strip_add(strip, STYLE_PLAIN, "%.0f", samples);
    Strip_add(strip, STYLE_FAINT, " sample%s", samples == 1 ? "" : "s");
    if (!whole)
        Strip_add(strip, STYLE_FAINT, " in %.0f s%s", state->period_s, about);
}

void AnnotateTitle_draw(struct Ui *ui, const struct Display *display)
{
    const struct AnnotateState *state = &ui->annotate;
    const struct Row *row = Model_row_of(&ui->model, state->id);
    const struct Function *now = row ? row->now : NULL;
    const struct Listing *listing = state->listing;
    char name[256];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Text_clean(name, sizeof name, state->name);
    Strip_add(&strip, STYLE_STRONG, "%s", name);
    Strip_flex(&strip, 20);
    if (now)
        add_place(&strip, now->file, now->line);
    else if (listing)
        add_place(&strip, listing->file, listing->line);
    if (ui->feed->listing.error == ENOENT &&
        ui->feed->listing.id == state->id) {
        Strip_item(&strip, 1);
        Strip_add(&strip, STYLE_ALERT, "gone");
    } else if (state->replaced) {
        Strip_item(&strip, 6);
        Strip_add(&strip, STYLE_FAINT, "made anew");
    }
    if (listing && listing->precise == 1) {
        Strip_item(&strip, 7);
        Strip_add(&strip, STYLE_FAINT, "cycles are of generic opcodes");
    }
    add_period(&strip, state);
    if (now) {
        struct Row whole = *row; // counts since the start, as HITS are
        whole.base = (struct RowBase){0};
        add_calls(&strip, &whole);
        char number[NUMBER_MAX];
        if (isfinite(now->avg_cycles))
            add_cycles(&strip, "avg",
                       Display_mean(number, now->avg_cycles, display), display,
                       4);
        if (isfinite(now->p99_cycles))
            add_cycles(&strip, "p99",
                       Display_cost(number, now->p99_cycles, display), display,
                       6);
        add_state(&strip, now);
    }
    Strip_draw(&strip, &ui->canvas,
               (struct Box){ui->layout.title_y, 1, ui->canvas.width - 2}, 3);
}
