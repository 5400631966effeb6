// SPDX-License-Identifier: MIT
// See opcodes_title.h.
#include "tui/views/opcodes_title.h"

#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/views/header_since.h"

#include <math.h>

#define STORM_SHOWN_S 30.0 // a storm is named so long after its last change
#define FILTER_WIDTH 40    // cells of a filter that other words make room for,
#define FILTER_LEAST 18    // ... and beside a storm's name

static bool is_storm(const struct Snapshot *now, const struct Transition *one)
{
    return one->storm == 1 && one->seen_at_s >= now->uptime_s - STORM_SHOWN_S;
}

// Counts the functions in a storm; *first is the one that changed last.
static int count_storms(const struct Snapshot *now,
                        const struct Transition **first)
{
    int count = 0;
    *first = NULL;
    for (size_t i = 0; i < now->transition_count; i++) {
        const struct Transition *one = &now->transitions[i];
        bool known = !is_storm(now, one);
        for (size_t k = 0; k < i && !known; k++)
            known = is_storm(now, &now->transitions[k]) &&
                    now->transitions[k].id == one->id;
        if (known)
            continue;
        if (!*first)
            *first = one;
        count++;
    }
    return count;
}

static bool add_storms(struct Strip *strip, const struct Snapshot *now)
{
    const struct Transition *one;
    int count = count_storms(now, &one);
    if (!count)
        return false;
    Strip_item(strip, 1);
    Strip_add(strip, STYLE_ALERT, "deopt storm: %.200s",
              one->function ? one->function : "?");
    if (one->line != NULL_U64)
        Strip_add(strip, STYLE_ALERT, ":%llu", (unsigned long long)one->line);
    if (one->from && one->to)
        Strip_add(strip, STYLE_FAINT, "  %.60s <-> %.60s", one->from, one->to);
    Strip_flex(strip, 26);
    if (count > 1) {
        Strip_item(strip, 2);
        Strip_add(strip, STYLE_ALERT, "and %d more", count - 1);
    }
    return true;
}

void OpcodesTitle_draw(struct Ui *ui)
{
    const struct Tally *tally = &ui->model.tally;
    struct Canvas *canvas = &ui->canvas;
    char number[NUMBER_MAX];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_STRONG, "Opcodes");
    bool storms = add_storms(&strip, ui->model.snapshot);
    if (tally->specializable > 0) {
        Strip_item(&strip, 4);
        Strip_add(&strip, STYLE_FAINT, "specialised ");
        Strip_add(&strip, STYLE_PLAIN, "%.0f%%",
                  tally->specialized / tally->specializable * 100);
        Strip_add(&strip, STYLE_FAINT, " of %s sites",
                  Number_grouped(number, (uint64_t)tally->specializable));
    }
    if (isfinite(tally->deopts_per_s)) {
        bool some = tally->deopts_per_s >= 0.05;
        Strip_item(&strip, 3);
        Strip_add(&strip, some ? STYLE_ALERT : STYLE_FAINT, "deopts ");
        Strip_add(&strip, some ? STYLE_ALERT : STYLE_PLAIN, "%s%s/s",
                  some ? ">=" : "", Number_rate(number, tally->deopts_per_s));
        Strip_add(&strip, STYLE_FAINT, ", %s%s in all",
                  tally->deopts > 0 ? ">=" : "",
                  Number_count(number, tally->deopts));
    }
    HeaderSince_add(&strip, &ui->model);
    if (*ui->model.filter) {
        Strip_item(&strip, 0);
        Strip_right(&strip);
        Strip_add(&strip, STYLE_FAINT, "filter ");
        Strip_add(&strip, STYLE_PROMPT, "%s", ui->model.filter);
        Strip_flex(&strip, storms ? FILTER_LEAST : FILTER_WIDTH);
    }
    Strip_draw(&strip, canvas,
               (struct Box){ui->layout.title_y, 1, canvas->width - 2}, 3);
}
