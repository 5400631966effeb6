// SPDX-License-Identifier: MIT
// See opcodes_log.h.
#include "tui/views/opcodes_log.h"

#include "tui/model/deopt.h"
#include "tui/text/number.h"
#include "tui/text/text.h"

#include <math.h>
#include <stdio.h>

#define WORD_DEOPT 44 // cells that a change needs for " (deopt)"

// Returns the least cells for `name` beside the other: an ellipsis and the
// words that they do not share ("LOAD_ATTR_METHOD_NO_DICT -> ...LAZY_DICT").
static int least(const struct Canvas *canvas, const char *name,
                 const char *other)
{
    size_t shared = 0, same = 0;
    while (name[same] && name[same] == other[same]) {
        same++;
        if (name[same - 1] == '_' || (!other[same] && name[same] == '_'))
            shared = same;
    }
    int rest = Canvas_measure(canvas, name + shared);
    return shared && name[same] ? rest + 1 : Canvas_measure(canvas, name);
}

void OpcodesLog_draw_change(struct Canvas *canvas, struct Box box,
                            const struct Transition *one)
{
    const char *from = one->from ? one->from : "?";
    const char *to = one->to ? one->to : "?";
    bool deopt = Deopt_is(one);
    const char *mark = box.width >= WORD_DEOPT ? " (deopt)" : " !";
    int tail = deopt ? Canvas_measure(canvas, mark) : 0;
    int end = box.x + box.width, left = Canvas_measure(canvas, from);
    int right = Canvas_measure(canvas, to), room = box.width - 4 - tail;
    if (left + right > room) {
        int half = room / 2, most = room - least(canvas, to, from);
        int other = room - least(canvas, from, to);
        if (left <= most || left <= half)
            right = room - left;
        else if (right <= other || right <= half)
            left = room - right;
        else if (most > half || other <= half)
            left = most > half ? most : half, right = room - left;
        else
            right = other, left = room - right;
    }
    Canvas_fit(canvas, (struct Box){box.y, box.x, left}, STYLE_PLAIN, CUT_START,
               from);
    int x = Canvas_put(canvas, box.y, box.x + left, end, STYLE_FAINT, " -> ");
    Canvas_fit(canvas, (struct Box){box.y, x, right},
               deopt ? STYLE_ALERT : STYLE_ARMED, CUT_START, to);
    if (deopt)
        Canvas_put(canvas, box.y, x + right, end, STYLE_ALERT, mark);
}

struct LogColumns { // where the columns of the log are
    struct Box time, where, offset, change;
};

static struct LogColumns place_columns(struct Box box)
{
    struct LogColumns columns;
    bool wide = box.width >= 66;
    int x = box.x + 2, spare = box.width - 2 - 8 - 2 - 2;
    spare -= wide ? 7 : 0;
    int where = spare * 2 / 5 < 48 ? spare * 2 / 5 : 48;
    columns.time = (struct Box){box.y, x, 8};
    x += 10;
    columns.where = (struct Box){box.y, x, where};
    x += where + 2;
    columns.offset = (struct Box){box.y, x, wide ? 5 : 0};
    x += wide ? 7 : 0;
    columns.change = (struct Box){box.y, x, box.x + box.width - x};
    return columns;
}

static void draw_transition(struct Canvas *canvas, struct Box box,
                            const struct Transition *one)
{
    char number[NUMBER_MAX], where[1024], line[24] = "";
    struct LogColumns columns = place_columns(box);
    if (isfinite(one->seen_at_s))
        Canvas_fit_right(canvas, columns.time, STYLE_FAINT,
                         Number_uptime(number, one->seen_at_s));
    if (one->line != NULL_U64)
        snprintf(line, sizeof line, ":%llu", (unsigned long long)one->line);
    snprintf(where, sizeof where, "%s%s",
             Text_tail(one->function ? one->function : "?", 960), line);
    Canvas_fit(canvas, columns.where,
               one->storm == 1 ? STYLE_ALERT : STYLE_PLAIN, CUT_START, where);
    if (one->offset != NULL_U64) {
        snprintf(line, sizeof line, "%llu", (unsigned long long)one->offset);
        Canvas_fit_right(canvas, columns.offset, STYLE_FAINT, line);
    }
    OpcodesLog_draw_change(canvas, columns.change, one);
}

static void draw_log_titles(struct Canvas *canvas, struct Box box)
{
    struct LogColumns columns = place_columns(box);
    Canvas_fit_right(canvas, columns.time, STYLE_HEAD, "UPTIME");
    Canvas_fit(canvas, columns.where, STYLE_HEAD, CUT_END, "FUNCTION:LINE");
    Canvas_fit_right(canvas, columns.offset, STYLE_HEAD, "OFFS");
    Canvas_fit(canvas, columns.change, STYLE_HEAD, CUT_END, "FROM -> TO");
}

void OpcodesLog_mark_selected(struct Canvas *canvas, struct Box box)
{
    Canvas_put(canvas, box.y, box.x, box.x + 1, STYLE_ACCENT, "▸");
    Canvas_select(canvas, box);
}

void OpcodesLog_draw(struct Ui *ui, struct Box box)
{
    const struct Layout *layout = &ui->layout;
    const struct Snapshot *now = ui->model.snapshot;
    struct Canvas *canvas = &ui->canvas;
    const struct List *log = &ui->opcodes.log;
    long index = 0;
    box.y = layout->table_y;
    draw_log_titles(canvas, box);
    OpcodesState_fit(&ui->opcodes, &ui->model, layout->body_height);
    for (size_t i = 0; i < now->transition_count; i++) {
        const struct Transition *one = &now->transitions[i];
        if (!OpcodesState_has(one, ui->model.filter))
            continue;
        box.y = layout->body_y + (int)(index - log->top);
        if (index >= log->top && index < log->top + log->height) {
            draw_transition(canvas, box, one);
            if (index == log->selected && !ui->opcodes.on_pairs)
                OpcodesLog_mark_selected(canvas, box);
        }
        index++;
    }
    if (!index)
        Canvas_fit(
            canvas, (struct Box){layout->body_y, box.x + 2, box.width - 2},
            STYLE_FAINT, CUT_END,
            *ui->model.filter ? "The filter hides all of it. Esc, Esc drops it."
                              : OPCODES_NOTHING_YET);
}
