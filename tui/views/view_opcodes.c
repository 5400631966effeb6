// SPDX-License-Identifier: MIT
// See view_opcodes.h.
#include "tui/views/view_opcodes.h"

#include "tui/app/screen.h"
#include "tui/model/deopt.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"

#include <stdio.h>
#include <string.h>

#define SIDE_BY_SIDE 120 // from here on the pairs stand at the right
#define PAIRS_WIDTH 52
#define STORM_SHOWN_S 30.0 // that long a storm is named after its last change
#define FILTER_WIDTH 40    // so much of a filter goes before other words
#define FILTER_LEAST 18    // ... but a storm's name
#define NOTHING_YET "No instruction has changed its kind yet."
#define WORD_DEOPT 44 // cells that a change needs for " (deopt)"

enum { OPCODES_TURN = REQUEST_OWN };

const struct Binding VIEW_OPCODES_KEYS[] = {
    {OPCODES_TURN,
     0,
     {PRESS_TAB},
     "move in the log, or in the counts of each change",
     NULL,
     "Log/Counts",
     3},
    {.request = 0},
};

static bool is_side_by_side(const struct Screen *screen)
{
    return screen->canvas.width >= SIDE_BY_SIDE;
}

static int pairs_width(const struct Screen *screen)
{
    return PAIRS_WIDTH + (screen->canvas.width - SIDE_BY_SIDE) / 4;
}

// --- Which transitions

static bool has(const struct Transition *one, const char *text)
{
    return Text_has(one->function, text) || Text_has(one->file, text) ||
           Text_has(one->from, text) || Text_has(one->to, text);
}

static bool pair_has(const struct TransitionPair *pair, const char *text)
{
    return Text_has(pair->from, text) || Text_has(pair->to, text);
}

// Counts are of all functions together: a filter that is in no opcode's name
// is about functions, and hides none of them.
static const char *pair_filter(const struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    for (size_t i = 0; i < now->transition_pair_count; i++)
        if (pair_has(&now->transition_pairs[i], model->filter))
            return model->filter;
    return "";
}

// The one of that index among those that pass the filter, or NULL.
static const struct Transition *nth(const struct Model *model, long index)
{
    const struct Snapshot *now = model->snapshot;
    for (size_t i = 0; now && i < now->transition_count; i++)
        if (has(&now->transitions[i], model->filter) && index-- == 0)
            return &now->transitions[i];
    return NULL;
}

static bool is_pinned(const struct OpcodesView *view,
                      const struct Transition *one)
{
    return one->seen_at_s == view->pinned_at && one->id == view->pinned_id &&
           one->offset == view->pinned_offset;
}

// Counts what passes the filter, and finds the selected one again: newer ones
// push it down.
static void fit_log(struct Screen *screen, long height)
{
    const struct Model *model = &screen->model;
    struct OpcodesView *view = &screen->opcodes;
    const struct Snapshot *now = model->snapshot;
    long count = 0, selected = view->pinned ? view->log.selected : 0;
    for (size_t i = 0; i < now->transition_count; i++) {
        const struct Transition *one = &now->transitions[i];
        if (!has(one, model->filter))
            continue;
        if (view->pinned && is_pinned(view, one))
            selected = count;
        count++;
    }
    view->log.selected = selected;
    List_fit(&view->log, count, height);
}

static void pin(struct Screen *screen)
{
    struct OpcodesView *view = &screen->opcodes;
    const struct Transition *one = nth(&screen->model, view->log.selected);
    view->pinned = one && view->log.selected > 0;
    if (!view->pinned)
        return;
    view->pinned_at = one->seen_at_s;
    view->pinned_id = one->id;
    view->pinned_offset = one->offset;
}

// --- The line about all of them

static bool is_storm(const struct Snapshot *now, const struct Transition *one)
{
    return one->storm == 1 && one->seen_at_s >= now->uptime_s - STORM_SHOWN_S;
}

// Functions in a storm; *first is the one that changed last.
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

static void draw_title(struct Screen *screen)
{
    const struct Tally *tally = &screen->model.tally;
    struct Canvas *canvas = &screen->canvas;
    char number[NUMBER_MAX];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_STRONG, "Opcodes");
    bool storms = add_storms(&strip, screen->model.snapshot);
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
    Header_add_since(&strip, &screen->model);
    if (*screen->model.filter) {
        Strip_item(&strip, 0);
        Strip_right(&strip);
        Strip_add(&strip, STYLE_FAINT, "filter ");
        Strip_add(&strip, STYLE_PROMPT, "%s", screen->model.filter);
        Strip_flex(&strip, storms ? FILTER_LEAST : FILTER_WIDTH);
    }
    Strip_draw(&strip, canvas,
               (struct Box){screen->layout.title_y, 1, canvas->width - 2}, 3);
}

// --- The log

// Cells that `name` wants at least beside the other: the words that they do not
// share, behind an ellipsis ("LOAD_ATTR_METHOD_NO_DICT -> ...LAZY_DICT").
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

// "FROM -> TO": what is too long loses its beginning, which both share.
static void draw_change(struct Canvas *canvas, struct Box box,
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

struct Lanes { // where the columns of the log are
    struct Box time, where, offset, change;
};

static struct Lanes split(struct Box box)
{
    struct Lanes lanes;
    bool wide = box.width >= 66;
    int x = box.x + 2, spare = box.width - 2 - 8 - 2 - 2;
    spare -= wide ? 7 : 0;
    int where = spare * 2 / 5 < 48 ? spare * 2 / 5 : 48;
    lanes.time = (struct Box){box.y, x, 8};
    x += 10;
    lanes.where = (struct Box){box.y, x, where};
    x += where + 2;
    lanes.offset = (struct Box){box.y, x, wide ? 5 : 0};
    x += wide ? 7 : 0;
    lanes.change = (struct Box){box.y, x, box.x + box.width - x};
    return lanes;
}

static void draw_transition(struct Canvas *canvas, struct Box box,
                            const struct Transition *one)
{
    char number[NUMBER_MAX], where[1024], line[24] = "";
    struct Lanes lanes = split(box);
    if (isfinite(one->seen_at_s))
        Canvas_fit_right(canvas, lanes.time, STYLE_FAINT,
                         Number_uptime(number, one->seen_at_s));
    if (one->line != NULL_U64)
        snprintf(line, sizeof line, ":%llu", (unsigned long long)one->line);
    snprintf(where, sizeof where, "%s%s",
             Text_tail(one->function ? one->function : "?", 960), line);
    Canvas_fit(canvas, lanes.where, one->storm == 1 ? STYLE_ALERT : STYLE_PLAIN,
               CUT_START, where);
    if (one->offset != NULL_U64) {
        snprintf(line, sizeof line, "%llu", (unsigned long long)one->offset);
        Canvas_fit_right(canvas, lanes.offset, STYLE_FAINT, line);
    }
    draw_change(canvas, lanes.change, one);
}

static void draw_log_titles(struct Canvas *canvas, struct Box box)
{
    struct Lanes lanes = split(box);
    Canvas_fit_right(canvas, lanes.time, STYLE_HEAD, "UPTIME");
    Canvas_fit(canvas, lanes.where, STYLE_HEAD, CUT_END, "FUNCTION:LINE");
    Canvas_fit_right(canvas, lanes.offset, STYLE_HEAD, "OFFS");
    Canvas_fit(canvas, lanes.change, STYLE_HEAD, CUT_END, "FROM -> TO");
}

static void mark_selected(struct Canvas *canvas, struct Box box)
{
    Canvas_put(canvas, box.y, box.x, box.x + 1, STYLE_ACCENT, "▸");
    Canvas_select(canvas, box);
}

static void draw_log(struct Screen *screen, struct Box box)
{
    const struct Layout *layout = &screen->layout;
    const struct Snapshot *now = screen->model.snapshot;
    struct Canvas *canvas = &screen->canvas;
    const struct List *log = &screen->opcodes.log;
    long index = 0;
    box.y = layout->table_y;
    draw_log_titles(canvas, box);
    fit_log(screen, layout->body_height);
    for (size_t i = 0; i < now->transition_count; i++) {
        const struct Transition *one = &now->transitions[i];
        if (!has(one, screen->model.filter))
            continue;
        box.y = layout->body_y + (int)(index - log->top);
        if (index >= log->top && index < log->top + log->height) {
            draw_transition(canvas, box, one);
            if (index == log->selected && !screen->opcodes.on_pairs)
                mark_selected(canvas, box);
        }
        index++;
    }
    if (!index)
        Canvas_fit(canvas,
                   (struct Box){layout->body_y, box.x + 2, box.width - 2},
                   STYLE_FAINT, CUT_END,
                   *screen->model.filter
                       ? "The filter hides all of it. Esc, Esc drops it."
                       : NOTHING_YET);
}

// --- The counts

static void draw_pairs(struct Screen *screen, struct Box box)
{
    const struct Layout *layout = &screen->layout;
    const struct Snapshot *now = screen->model.snapshot;
    struct Canvas *canvas = &screen->canvas;
    struct OpcodesView *view = &screen->opcodes;
    const char *filter = pair_filter(&screen->model);
    bool whole = *screen->model.filter && !*filter;
    char number[NUMBER_MAX];
    long count = 0, index = 0;
    box.y = layout->table_y;
    Canvas_fit_right(canvas, (struct Box){box.y, box.x + 1, 7}, STYLE_HEAD,
                     screen->model.baseline ? "+COUNT" : "COUNT");
    Canvas_fit(canvas, (struct Box){box.y, box.x + 10, box.width - 10},
               STYLE_HEAD, CUT_END,
               whole ? "FROM -> TO, in all functions" : "FROM -> TO");
    for (size_t i = 0; i < now->transition_pair_count; i++)
        count += pair_has(&now->transition_pairs[i], filter);
    List_fit(&view->pairs, count, layout->body_height);
    for (size_t i = 0; i < now->transition_pair_count; i++) {
        const struct TransitionPair *pair = &now->transition_pairs[i];
        if (!pair_has(pair, filter))
            continue;
        long row = index++ - view->pairs.top;
        if (row < 0 || row >= view->pairs.height)
            continue;
        box.y = layout->body_y + (int)row;
        Canvas_fit_right(
            canvas, (struct Box){box.y, box.x + 1, 7}, STYLE_PLAIN,
            Number_count(number, Model_pair_count(&screen->model, pair)));
        draw_change(canvas, (struct Box){box.y, box.x + 10, box.width - 10},
                    &(struct Transition){.from = pair->from,
                                         .to = pair->to,
                                         .deopt = pair->deopt});
        if (view->on_pairs && index - 1 == view->pairs.selected)
            mark_selected(canvas, box);
    }
    if (!count)
        Canvas_fit(canvas,
                   (struct Box){layout->body_y, box.x + 2, box.width - 2},
                   STYLE_FAINT, CUT_END, NOTHING_YET);
}

// --- As a view

void ViewOpcodes_show(struct Screen *screen, const struct Status *status)
{
    struct Canvas *canvas = &screen->canvas;
    struct Box box = {0, 0, canvas->width - 1};
    Header_draw_process(canvas, &screen->model, status);
    if (!screen->model.snapshot) {
        Canvas_fit(canvas,
                   (struct Box){screen->layout.body_y, 2, canvas->width - 3},
                   STYLE_FAINT, CUT_END, Status_waiting(status));
        return;
    }
    draw_title(screen);
    Canvas_paint(canvas, (struct Box){screen->layout.table_y, 0, canvas->width},
                 STYLE_HEAD);
    if (is_side_by_side(screen)) {
        int width = pairs_width(screen);
        draw_pairs(screen, (struct Box){0, canvas->width - width, width - 1});
        box.width = canvas->width - width - 2;
        draw_log(screen, box);
    } else if (screen->opcodes.on_pairs) {
        draw_pairs(screen, box);
    } else {
        draw_log(screen, box);
    }
}

bool ViewOpcodes_find(struct Screen *screen, int step, bool here)
{
    struct OpcodesView *view = &screen->opcodes;
    long count = view->log.count;
    view->on_pairs = false;
    for (long away = here ? 0 : 1; away <= count && count; away++) {
        long index = (view->log.selected + step * away) % count;
        index += index < 0 ? count : 0;
        const struct Transition *one = nth(&screen->model, index);
        if (!one || !has(one, screen->model.search))
            continue;
        List_select(&view->log, index);
        pin(screen);
        return true;
    }
    return false;
}

// That of the selected line of the log.
uint64_t ViewOpcodes_function(const struct Screen *screen)
{
    const struct OpcodesView *view = &screen->opcodes;
    const struct Transition *one =
        view->on_pairs ? NULL : nth(&screen->model, view->log.selected);
    return one ? one->id : 0;
}

// Selects; in the log, a click on what is selected opens its function.
static void click(struct Screen *screen, int x, int y)
{
    struct OpcodesView *view = &screen->opcodes;
    int line = y - screen->layout.body_y;
    bool pairs = view->on_pairs;
    if (is_side_by_side(screen))
        pairs = x >= screen->canvas.width - pairs_width(screen);
    struct List *list = pairs ? &view->pairs : &view->log;
    long index = List_at(list, line);
    if (index < 0)
        return;
    bool again = index == list->selected && pairs == view->on_pairs;
    view->on_pairs = pairs;
    List_select(list, index);
    if (pairs)
        return;
    pin(screen);
    if (again)
        View_enter(screen);
}

bool ViewOpcodes_press(struct Screen *screen, int request, uint32_t key)
{
    struct OpcodesView *view = &screen->opcodes;
    if (request == REQUEST_CLICK) {
        click(screen, Key_x(key), Key_y(key));
        return true;
    }
    if (request == OPCODES_TURN) {
        view->on_pairs = !view->on_pairs;
        return true;
    }
    if (view->on_pairs)
        return List_move(&view->pairs, request);
    if (!List_move(&view->log, request))
        return false;
    pin(screen);
    return true;
}
