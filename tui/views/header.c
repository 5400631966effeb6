// SPDX-License-Identifier: MIT
// See header.h.
#include "tui/views/header.h"

#include "tui/text/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

// --- Parts of all lines

void Header_draw_line(struct Strip *strip, struct Canvas *canvas, int y)
{
    struct Box box = {y, 1, canvas->width - 2};
    Strip_draw(strip, canvas, box, canvas->width < HEADER_WIDE ? 2 : 3);
}

void Header_add_label(struct Strip *strip, int importance, const char *label,
                      const char *value)
{
    Strip_item(strip, importance);
    Strip_add(strip, STYLE_FAINT, "%s ", label);
    Strip_add(strip, STYLE_PLAIN, "%s", value);
}

void Header_add_since(struct Strip *strip, const struct Model *model)
{
    char number[NUMBER_MAX];
    if (model->reset)
        Header_add_label(strip, 2, "since reset",
                         Number_uptime(number, model->snapshot->uptime_s -
                                                   model->base_uptime));
    if (model->baseline) {
        Strip_item(strip, 0);
        Strip_add(strip, STYLE_PROMPT, "change in %s",
                  Number_uptime(number, model->snapshot->uptime_s -
                                            model->baseline_uptime));
        Strip_add(strip, STYLE_FAINT, " (b)");
    }
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
        Header_add_label(strip, 2, "pid", number);
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
        Header_add_label(strip, 6, "threshold",
                         Number_grouped(number, snapshot->threshold));
    if (isfinite(snapshot->uptime_s))
        Header_add_label(strip, 3, "up",
                         Number_uptime(number, snapshot->uptime_s));
}

void Header_draw(struct Canvas *canvas, const struct Model *model,
                 const struct Status *status)
{
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_ACCENT, "ocular-top");
    if (canvas->width >= HEADER_WIDE)
        Strip_add(&strip, STYLE_FAINT, " %s", status->version);
    if (model->snapshot)
        add_process(&strip, model->snapshot);
    add_state(&strip, status);
    Header_draw_line(&strip, canvas, 0);
}
