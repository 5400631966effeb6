// SPDX-License-Identifier: MIT
// See time_bar.h.
#include "tui/views/time_bar.h"

#include "tui/screen/strip.h"
#include "tui/text/text.h"

#include <math.h>
#include <stdlib.h>

#define LEAST 0.005 // a smaller part is not shown
#define WIDEST 40   // cells of the bar on a wide screen

// The parts are those of WaitKind, and these.
enum { PART_PYTHON = WAIT_KINDS, PART_C, PART_GC, PART_AWAIT, PARTS };

static const struct {
    const char *words;
    const char *glyph; // the glyphs differ on a terminal without colours, too
    enum Style style;
} LOOKS[PARTS] = {
    [WAITS_SOCKET] = {"socket", "▒", STYLE_HEAT_2},
    [WAITS_FILE] = {"file", "▒", STYLE_HEAT_3},
    [WAITS_LOCK] = {"lock", "▒", STYLE_PARTIAL},
    [WAITS_SLEEP] = {"sleep", "▒", STYLE_FAINT},
    [WAITS_GIL] = {"for the GIL", "▒", STYLE_HEAT_5},
    [WAITS_CPU] = {"for a CPU", "▒", STYLE_ALERT},
    [WAITS_IDLE] = {"idle loop", "░", STYLE_DARK},
    [WAITS_OTHER] = {"other waits", "▒", STYLE_PLAIN},
    [PART_PYTHON] = {"Python", "█", STYLE_ACCENT},
    [PART_C] = {"C", "▓", STYLE_HEAT_4},
    [PART_GC] = {"gc", "▓", STYLE_ALERT},
    [PART_AWAIT] = {"awaiting", "░", STYLE_ARMED},
};

enum Style TimeBar_style(unsigned kind)
{
    return kind < WAIT_KINDS ? LOOKS[kind].style : STYLE_PLAIN;
}

struct Part {
    int part;
    double share;
};

static int by_share(const void *a, const void *b)
{
    const struct Part *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return x->part - y->part;
}

// Fills the parts, the largest first. Returns their sum, or 0 if a part is not
// known.
static double divide(struct Part parts[PARTS], const struct Function *now)
{
    const struct PartShares *from = now->total_parts;
    double awaits = now->await_s * now->calls_per_s, sum = 0;
    double python = now->total_share - from->c - from->gc;
    for (int i = 0; i < WAIT_KINDS; i++) {
        parts[i] = (struct Part){i, from->waits[i]};
        python -= from->waits[i];
    }
    if (!isfinite(python))
        return 0;
    parts[PART_PYTHON] = (struct Part){PART_PYTHON, fmax(python, 0)};
    parts[PART_C] = (struct Part){PART_C, from->c};
    parts[PART_GC] = (struct Part){PART_GC, from->gc};
    parts[PART_AWAIT] =
        (struct Part){PART_AWAIT, isfinite(awaits) ? awaits : 0};
    for (int i = 0; i < PARTS; i++)
        sum += parts[i].share;
    qsort(parts, PARTS, sizeof *parts, by_share);
    return isfinite(sum) ? sum : 0;
}

static void draw_bar(struct Canvas *canvas, struct Box box,
                     const struct Part *parts, double sum)
{
    double done = 0;
    int x = box.x;
    for (int i = 0; i < PARTS && parts[i].share >= LEAST * sum; i++) {
        done += parts[i].share / sum;
        int end = box.x + (int)lround(fmin(done, 1) * box.width);
        while (x < end)
            x = Canvas_put(canvas, box.y, x, box.x + box.width,
                           (uint8_t)LOOKS[parts[i].part].style,
                           LOOKS[parts[i].part].glyph);
    }
}

// Returns the function in which most tasks of the coroutine wait, or NULL.
static const char *awaited(const struct Snapshot *snapshot, uint64_t id)
{
    for (size_t i = 0; i < snapshot->tasks_group_count; i++)
        if (snapshot->tasks_groups[i].id == id)
            return snapshot->tasks_groups[i].waits_in;
    return NULL;
}

static void draw_legend(struct Canvas *canvas, struct Box box,
                        const struct Part *parts, double sum, const char *in)
{
    struct Strip strip;
    char name[64];
    Strip_init(&strip);
    for (int i = 0; i < PARTS && parts[i].share >= LEAST * sum; i++) {
        int part = parts[i].part;
        Strip_item(&strip, i);
        Strip_add(&strip, LOOKS[part].style, "%s ", LOOKS[part].glyph);
        Strip_add(&strip, STYLE_PLAIN, "%s %.0f%%", LOOKS[part].words,
                  fmin(parts[i].share / sum, 1) * 100);
        if (part != PART_AWAIT || !in)
            continue;
        Text_clean(name, sizeof name, Text_tail(in, 40));
        Strip_add(&strip, STYLE_FAINT, " in %s", name);
    }
    Strip_draw(&strip, canvas, box, 2);
}

void TimeBar_draw(struct Canvas *canvas, struct Box box, const struct Row *row,
                  const struct Snapshot *snapshot)
{
    struct Part parts[PARTS];
    struct Box bar = box;
    double sum;
    if (row->part || !row->now->total_part_count)
        return;
    sum = divide(parts, row->now);
    if (!(sum > 0))
        return;
    bar.width = box.width / 4 < WIDEST ? box.width / 4 : WIDEST;
    draw_bar(canvas, bar, parts, sum);
    box.x += bar.width + 2;
    box.width -= bar.width + 2;
    draw_legend(canvas, box, parts, sum, awaited(snapshot, row->id));
}
