// SPDX-License-Identifier: MIT
#include "tui/views/time_bar.h"

#include "tui/screen/strip.h"
#include "tui/text/text.h"

#include <math.h>
#include <stdlib.h>

#define LEAST 0.005 // A smaller part is not shown.
#define WIDEST 40   // Cells of the bar on a wide screen.

// Parts of the time have the numbers of WaitKind, then the numbers of this
// enum, and from PART_AWAITS on those of AwaitKind. PART_AWAIT is the time in
// awaits of an unknown kind.
enum {
    PART_PYTHON = WAIT_KINDS,
    PART_C,
    PART_GC,
    PART_AWAIT,
    PART_AWAITS,
    PARTS = PART_AWAITS + AWAIT_KINDS
};

static const struct {
    const char *words;
    // The glyphs differ, too, because a terminal may have no colours.
    const char *glyph;
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
    [PART_AWAITS + AWAITS_SLEEP] = {"awaiting sleep", "░", STYLE_FAINT},
    [PART_AWAITS + AWAITS_QUEUE] = {"awaiting a queue", "░", STYLE_HEAT_3},
    [PART_AWAITS + AWAITS_LOCK] = {"awaiting a lock", "░", STYLE_PARTIAL},
    [PART_AWAITS + AWAITS_SOCKET] = {"awaiting a socket", "░", STYLE_HEAT_2},
    [PART_AWAITS + AWAITS_THREAD] = {"awaiting a thread", "░", STYLE_HEAT_4},
    [PART_AWAITS + AWAITS_TASK] = {"awaiting a task", "░", STYLE_ARMED},
    [PART_AWAITS + AWAITS_FUTURE] = {"awaiting a future", "░", STYLE_PLAIN},
    [PART_AWAITS + AWAITS_LOOP] = {"awaiting the loop", "░", STYLE_ALERT},
    [PART_AWAITS + AWAITS_OTHER] = {"other awaits", "░", STYLE_DARK},
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

// Returns the row that says what the function's suspended calls await, or NULL
// if this is not known.
static const struct AwaitRow *awaits_of(const struct Snapshot *snapshot,
                                        uint64_t id)
{
    for (size_t i = 0; i < snapshot->tasks_await_count; i++)
        if (snapshot->tasks_awaits[i].id == id)
            return &snapshot->tasks_awaits[i];
    return NULL;
}

// Sets the parts for awaits. If AWAIT and CALLS/s are known, their product is
// divided among the kinds of awaits. If AWAIT or CALLS/s is unknown, no call
// has ended. If no call has ended, the parts are the mean numbers of suspended
// calls.
static void divide_awaits(struct Part *parts, const struct Function *now,
                          const struct AwaitRow *row)
{
    double whole = now->await_s * now->calls_per_s, sum = 0;
    bool counted = isfinite(whole);
    for (int i = 0; row && i < AWAIT_KINDS; i++)
        sum += row->of[i];
    bool known = isfinite(sum) && sum > 0;
    for (int i = 0; i < AWAIT_KINDS; i++) {
        double share = known ? row->of[i] : 0;
        parts[PART_AWAITS + i] = (struct Part){
            PART_AWAITS + i, counted && known ? whole * share / sum : share};
    }
    parts[PART_AWAIT] =
        (struct Part){PART_AWAIT, counted && !known ? whole : 0};
}

// Sets all parts and sorts them, the largest first. Returns their sum, or 0 if
// a part is not known.
static double divide(struct Part parts[PARTS], const struct Function *now,
                     const struct AwaitRow *awaits)
{
    static const struct PartShares none;
    const struct PartShares *from =
        now->total_part_count ? now->total_parts : &none;
    double python = now->total_share - from->c - from->gc, sum = 0;
    for (int i = 0; i < WAIT_KINDS; i++) {
        // Waits for a CPU count as 0 if the kernel does not report them.
        bool missing = i == WAITS_CPU && isnan(from->waits[i]);
        parts[i] = (struct Part){i, missing ? 0 : from->waits[i]};
        python -= parts[i].share;
    }
    if (!isfinite(python))
        return 0;
    parts[PART_PYTHON] = (struct Part){PART_PYTHON, fmax(python, 0)};
    parts[PART_C] = (struct Part){PART_C, from->c};
    parts[PART_GC] = (struct Part){PART_GC, from->gc};
    divide_awaits(parts, now, awaits);
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

// Returns true if the words of the part do not say what kind of function is
// awaited.
static bool names_place(int part)
{
    return part == PART_AWAIT || part == PART_AWAITS + AWAITS_FUTURE ||
           part == PART_AWAITS + AWAITS_OTHER;
}

static void draw_legend(struct Canvas *canvas, struct Box box,
                        const struct Part *parts, double sum, const char *in)
{
    struct Strip strip;
    char name[64];
    Strip_init(&strip);
    for (int i = 0; i < PARTS && parts[i].share >= LEAST * sum; i++) {
        int part = parts[i].part;
        Strip_put(&strip, i, LOOKS[part].style, "%s ", LOOKS[part].glyph);
        Strip_add(&strip, STYLE_PLAIN, "%s %.0f%%", LOOKS[part].words,
                  fmin(parts[i].share / sum, 1) * 100);
        if (!in || !names_place(part))
            continue;
        Text_clean(name, sizeof name, Text_tail(in, 40));
        Strip_add(&strip, STYLE_FAINT, " in %s", name);
        // Only the first such part, which is the largest one, names the
        // function.
        in = NULL;
    }
    Strip_draw(&strip, canvas, box, 2);
}

bool TimeBar_wants_tasks(const struct Row *row)
{
    const struct Function *now = row ? row->now : NULL;
    return now && (now->await_s > 0 || Row_u64(now->in_flight) > 0);
}

void TimeBar_draw(struct Canvas *canvas, struct Box box, const struct Row *row,
                  const struct Snapshot *snapshot)
{
    struct Part parts[PARTS];
    struct Box bar = box;
    double sum;
    const struct AwaitRow *awaits = awaits_of(snapshot, row->id);
    // A function whose calls were always suspended is in no sample.
    if (row->part ||
        (!row->now->total_part_count && (row->now->total_share > 0 || !awaits)))
        return;
    sum = divide(parts, row->now, awaits);
    if (!(sum > 0))
        return;
    bar.width = box.width / 4 < WIDEST ? box.width / 4 : WIDEST;
    draw_bar(canvas, bar, parts, sum);
    box.x += bar.width + 2;
    box.width -= bar.width + 2;
    draw_legend(canvas, box, parts, sum, awaited(snapshot, row->id));
}
