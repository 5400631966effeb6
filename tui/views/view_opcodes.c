// SPDX-License-Identifier: MIT
#include "tui/views/view_opcodes.h"

#include "tui/model/deopt.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/shown_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Least width of a screen that shows the counts beside the log.
#define SIDE_BY_SIDE 120
#define PAIRS_WIDTH 52
// Least width of the log in cells at which a loss of specialisation is marked
// by the word "(deopt)" instead of "!".
#define WORD_DEOPT 44
// In the title, a long filter has at least FILTER_WIDTH cells, or FILTER_LEAST
// cells if the name of a storm is also shown.
#define FILTER_WIDTH 40
#define FILTER_LEAST 18
#define NOTHING_YET "No instruction has changed its kind yet."

enum { OPCODES_TURN = REQUEST_OWN };

static const struct Binding KEYS[] = {
    BINDING(OPCODES_TURN, 0, "move in the log, or in the counts of each change",
            NULL, "Log/Counts", 3, PRESS_TAB),
    {.request = 0},
};

static bool is_side_by_side(const struct Ui *ui)
{
    return ui->canvas.width >= SIDE_BY_SIDE;
}

static int pairs_width(const struct Ui *ui)
{
    return PAIRS_WIDTH + (ui->canvas.width - SIDE_BY_SIDE) / 4;
}

// --- A change, in the log and in the counts

// Returns the number of cells that the opcode `name` needs at least, if it is
// shown next to the opcode `other`. A shortened name has an ellipsis and those
// words that `other` does not have, as in "LOAD_ATTR_METHOD_NO_DICT ->
// ...LAZY_DICT".
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

// --- The log

static uint64_t key_of(const struct ListRows *rows, long row)
{
    const struct Transition *one = ShownRows_at(rows, row);
    uint64_t at;
    memcpy(&at, &one->seen_at_s, sizeof at);
    return (at ^ one->id * UINT64_C(0x9E3779B97F4A7C15) ^ one->offset << 20) |
           1;
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct Transition *one = ShownRows_at(rows, row);
    return Text_has(one->function, text) || Text_has(one->file, text) ||
           Text_has(one->from, text) || Text_has(one->to, text);
}

enum { LOG_TIME, LOG_WHERE, LOG_OFFSET, LOG_CHANGE, LOG_COLUMNS };

static void write_transition(struct ListCell *cell, const struct ListRows *rows,
                             long row, int column)
{
    const struct Transition *one = ShownRows_at(rows, row);
    char text[NUMBER_MAX];
    if (column == LOG_TIME && isfinite(one->seen_at_s)) {
        ListCell_put(cell, STYLE_FAINT, Number_uptime(text, one->seen_at_s));
    } else if (column == LOG_WHERE) {
        ListCell_place(cell, one->storm == 1 ? STYLE_ALERT : STYLE_PLAIN,
                       one->function ? one->function : "?", one->line);
    } else if (column == LOG_OFFSET && one->offset != NULL_U64) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)one->offset);
        ListCell_put(cell, STYLE_FAINT, text);
    }
}

static void draw_transition(struct Canvas *canvas, struct Box box,
                            const struct ListRows *rows, long row)
{
    draw_change(canvas, box, ShownRows_at(rows, row));
}

static const struct ListColumn LOG[LOG_COLUMNS] = {
    [LOG_TIME] = LIST_COLUMN("UPTIME", 8, 2),
    [LOG_WHERE] = LIST_COLUMN("FUNCTION:LINE", 12, 2, .grows = 40, .most = 48,
                              .left = true, .cut = CUT_START),
    [LOG_OFFSET] = LIST_COLUMN("OFFS", 5, 2, .importance = 1, .room = 45),
    [LOG_CHANGE] = LIST_COLUMN("FROM -> TO", 0, 2, .grows = 60, .left = true,
                               .draw = draw_transition),
};

static void fill(struct ShownRows *shown)
{
    const struct Model *model = &shown->ui->model;
    for (size_t i = 0; i < model->snapshot->transition_count; i++) {
        const struct Transition *one = &model->snapshot->transitions[i];
        ShownRows_add(shown, one,
                      Model_shows_file(model, one->file) &&
                          ShownRows_passes(shown, one));
    }
}

static const char *why_none(const struct ShownRows *shown)
{
    (void)shown;
    return NOTHING_YET;
}

static const struct ShownKind TRANSITIONS = {
    .list = {.columns = LOG,
             .column_count = LOG_COLUMNS,
             .newest_first = true,
             .key = key_of,
             .has = has_text,
             .write = write_transition},
    .fill = fill,
    .why_none = why_none,
    .id = offsetof(struct Transition, id)};

// --- The counts of each change

static bool pair_passes(const struct TransitionPair *pair, const char *text)
{
    return Text_has(pair->from, text) || Text_has(pair->to, text);
}

// Returns the text by which the counts of changes are filtered. If the user's
// filter is in no opcode's name, it is meant for functions. If the filter is
// meant for functions, returns "", because the counts are sums over all
// functions.
static const char *pair_filter(const struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    for (size_t i = 0; now && i < now->transition_pair_count; i++)
        if (pair_passes(&now->transition_pairs[i], model->filter))
            return model->filter;
    return "";
}

struct Pairs { // Source of the rows with counts of changes.
    const struct Model *model;
    const char *filter;
    struct ListColumn columns[2];
    struct ListRows rows;
};

static const struct TransitionPair *pair_at(const struct ListRows *rows,
                                            long row)
{
    const struct Pairs *pairs = rows->source;
    const struct Snapshot *now = pairs->model->snapshot;
    for (size_t i = 0; i < now->transition_pair_count; i++)
        if (pair_passes(&now->transition_pairs[i], pairs->filter) && row-- == 0)
            return &now->transition_pairs[i];
    return NULL;
}

static void write_pair(struct ListCell *cell, const struct ListRows *rows,
                       long row, int column)
{
    const struct Pairs *pairs = rows->source;
    char number[NUMBER_MAX];
    (void)column;
    ListCell_put(cell, STYLE_PLAIN,
                 Number_count(number, Model_pair_count(pairs->model,
                                                       pair_at(rows, row))));
}

static void draw_pair(struct Canvas *canvas, struct Box box,
                      const struct ListRows *rows, long row)
{
    const struct TransitionPair *pair = pair_at(rows, row);
    struct Transition one = {
        .from = pair->from, .to = pair->to, .deopt = pair->deopt};
    draw_change(canvas, box, &one);
}

// After fill_pairs() `pairs` must not move, because `rows` points to it.
static void fill_pairs(struct Pairs *pairs, const struct Model *model)
{
    const struct Snapshot *now = model->snapshot;
    pairs->model = model;
    pairs->filter = pair_filter(model);
    bool whole = *model->filter && !*pairs->filter;
    pairs->columns[0] = (struct ListColumn){
        .title = model->baseline ? "+COUNT" : "COUNT", .width = 7, .gap = 1};
    pairs->columns[1] = (struct ListColumn)LIST_COLUMN(
        whole ? "FROM -> TO, in all functions" : "FROM -> TO", 20, 2,
        .grows = 100, .left = true, .draw = draw_pair);
    pairs->rows = (struct ListRows){.source = pairs,
                                    .columns = pairs->columns,
                                    .column_count = 2,
                                    .write = write_pair};
    for (size_t i = 0; now && i < now->transition_pair_count; i++)
        pairs->rows.count +=
            pair_passes(&now->transition_pairs[i], pairs->filter);
}

// --- The view's own line

static bool add_storms(struct Strip *strip, const struct Snapshot *now)
{
    const struct Transition *one;
    int count = Deopt_storms(now, &one);
    if (!count)
        return false;
    Strip_put(strip, 1, STYLE_ALERT, "deopt storm: %.200s",
              one->function ? one->function : "?");
    if (one->line != NULL_U64)
        Strip_add(strip, STYLE_ALERT, ":%llu", (unsigned long long)one->line);
    if (one->from && one->to)
        Strip_add(strip, STYLE_FAINT, "  %.60s <-> %.60s", one->from, one->to);
    Strip_flex(strip, 26);
    if (count > 1)
        Strip_put(strip, 2, STYLE_ALERT, "and %d more", count - 1);
    return true;
}

static void draw_title(struct Ui *ui)
{
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Opcodes");
    bool storms = add_storms(&strip, ui->model.snapshot);
    Header_add_specialisation(&strip, &ui->model, true);
    Header_add_since(&strip, &ui->model);
    Header_add_filter(&strip, &ui->model, storms ? FILTER_LEAST : FILTER_WIDTH);
    Ui_draw_title(ui, &strip);
}

// --- As a view

static void draw_nothing(struct Canvas *canvas, struct Box box,
                         const char *text)
{
    Canvas_fit(canvas, (struct Box){box.y + 1, box.x + 2, box.width - 3},
               STYLE_FAINT, CUT_END, text);
}

static void draw_log(struct Ui *ui, struct Box box)
{
    struct List *list = &ui->lists[VIEW_OPCODES];
    struct ShownRows shown;
    ShownRows_fill(&shown, ui);
    list->unmarked = ui->on_pairs;
    List_draw(list, &shown.list, &ui->canvas, box, ui->layout.body_height);
    if (!shown.list.count)
        draw_nothing(&ui->canvas, box, ShownRows_why_none(&shown));
}

static void draw_pairs(struct Ui *ui, struct Box box)
{
    struct Pairs pairs;
    fill_pairs(&pairs, &ui->model);
    ui->pair_list.unmarked = !ui->on_pairs;
    List_draw(&ui->pair_list, &pairs.rows, &ui->canvas, box,
              ui->layout.body_height);
    if (!pairs.rows.count)
        draw_nothing(&ui->canvas, box, NOTHING_YET);
}

static void draw(struct Ui *ui, const struct Status *status)
{
    struct Canvas *canvas = &ui->canvas;
    struct Box box = {ui->layout.table_y, 0, canvas->width}, side = box;
    if (!ui->model.snapshot) {
        draw_nothing(canvas, box, Status_waiting(status));
        return;
    }
    draw_title(ui);
    if (is_side_by_side(ui)) {
        side.width = pairs_width(ui);
        side.x = canvas->width - side.width;
        box.width = side.x - 1;
    }
    if (is_side_by_side(ui) || !ui->on_pairs)
        draw_log(ui, box);
    if (is_side_by_side(ui) || ui->on_pairs)
        draw_pairs(ui, side);
}

static bool find(struct Ui *ui, int step, bool here)
{
    ui->on_pairs = false;
    return ShownRows_find(ui, step, here);
}

// Returns the function of the selected row of the log, or 0.
static uint64_t selected_function(const struct Ui *ui)
{
    return ui->on_pairs ? 0 : ShownRows_function(ui);
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    bool before = ui->on_pairs;
    struct Pairs pairs;
    struct ShownRows shown;
    if (request == OPCODES_TURN) {
        ui->on_pairs = !ui->on_pairs;
        return true;
    }
    if (request == REQUEST_CLICK && is_side_by_side(ui))
        ui->on_pairs = Key_x(key) >= ui->canvas.width - pairs_width(ui);
    if (ui->on_pairs) {
        fill_pairs(&pairs, &ui->model);
        return List_press(&ui->pair_list, &pairs.rows, request, key);
    }
    enum ListAnswer answer = ShownRows_answer(&shown, ui, request, key);
    if (answer == LIST_OPENS && !before)
        Navigation_enter(ui);
    return answer != LIST_IGNORES;
}

const struct View OPCODES_VIEW = {
    .name = "Opcodes",
    .opens = BINDING(0, 0, "opcodes: the live log of specialisation", NULL,
                     "Opcodes", 7, 'o'),
    .own = KEYS,
    .can = CAN_SEARCH | CAN_FILTER | CAN_FUNCTION | CAN_COUNT | CAN_RESET |
           CAN_OWN_CODE,
    .shown = &TRANSITIONS,
    .draw = draw,
    .press = press,
    .find = find,
    .function = selected_function};
