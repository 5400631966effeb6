// SPDX-License-Identifier: MIT
#include "tui/views/view_objects.h"

#include "ipc/base/utf8.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/shown_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OBJECTS_FOLD = REQUEST_OWN };

static const struct Binding KEYS[] = {
    BINDING(OBJECTS_FOLD, 0, "the functions that create the type's objects",
            NULL, "Creators", 2, PRESS_ENTER, PRESS_RIGHT),
    {.request = 0},
};

enum {
    BY_GROWTH,
    BY_BORN,
    BY_DIED,
    BY_TYPE,
    BY_FUNCTION,
    BY_FILE,
    OBJECT_COLUMNS
};

static const struct ListColumn COLUMNS_OF_OBJECTS[OBJECT_COLUMNS] = {
    [BY_GROWTH] = LIST_COLUMN("GROWTH/s", 8, 1),
    [BY_BORN] = LIST_COLUMN("BORN/s", 8, 1),
    [BY_DIED] = LIST_COLUMN("DIED/s", 8, 1, .importance = 1, .room = 20),
    [BY_TYPE] = LIST_COLUMN("TYPE", 18, 2, .grows = 40, .left = true,
                            .cut = CUT_START, .a_to_z = true),
    [BY_FUNCTION] = LIST_COLUMN("CREATED BY", 16, 2, .grows = 60, .left = true,
                                .cut = CUT_START, .a_to_z = true),
    [BY_FILE] = LIST_COLUMN("FILE:LINE", 16, 2, .importance = 2, .room = 20,
                            .left = true, .path = true, .a_to_z = true),
};

// --- The rows

static bool is_type(const struct ObjectRow *row)
{
    return !row->function;
}

static bool is_of(const struct ObjectRow *row, const struct ObjectRow *type)
{
    return row->function && strcmp(row->type, type->type) == 0;
}

// Returns true if `one` comes before `other` among the functions that create
// objects of the type. Each process sends them in their order, but the rows of
// several processes are not in order. If the type grows, the process in which
// it grows has put the functions whose objects stay alive first.
static bool is_before(const struct ObjectRow *type, const struct ObjectRow *one,
                      const struct ObjectRow *other)
{
    return type->grows != 1 && one->born_per_s > other->born_per_s;
}

// If the row is of a type, returns the most important shown function that
// creates objects of this type. If the row is of a function, returns the row's
// own function. Returns NULL if there is no such function.
static const struct ObjectRow *creator_of(const struct Model *model,
                                          const struct ObjectRow *row)
{
    const struct Snapshot *now = model->snapshot;
    const struct ObjectRow *first = NULL;
    if (!is_type(row))
        return row;
    for (size_t i = 0; i < now->objects_type_count; i++) {
        const struct ObjectRow *at = &now->objects_types[i];
        if (is_of(at, row) && Model_shows_file(model, at->file) &&
            (!first || is_before(row, at, first)))
            first = at;
    }
    return first;
}

static uint64_t key_of_row(const struct ObjectRow *row)
{
    return Utf8_hash(Utf8_hash(row->line, row->type), row->function) | 1;
}

static uint64_t key_of(const struct ListRows *rows, long row)
{
    return key_of_row(ShownRows_at(rows, row));
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct ShownRows *shown = rows->source;
    const struct ObjectRow *object = shown->rows[row];
    const struct ObjectRow *creator = creator_of(&shown->ui->model, object);
    return Text_has(object->type, text) ||
           (creator && (Text_has(creator->function, text) ||
                        Text_has(creator->file, text)));
}

static void write_growth(struct ListCell *cell, const struct ObjectRow *row)
{
    char number[NUMBER_MAX], text[NUMBER_MAX + 2];
    double net = row->net_per_s;
    bool sure = fabs(net) > 2 * row->net_error;
    if (isnan(net))
        return;
    snprintf(text, sizeof text, "%s%s%s", sure ? "" : "~", net > 0 ? "+" : "-",
             Number_rate(number, fabs(net)));
    ListCell_put(cell,
                 row->grows == 1 ? STYLE_ALERT
                 : sure          ? STYLE_PLAIN
                                 : STYLE_FAINT,
                 text);
}

static void write_cell(struct ListCell *cell, const struct ListRows *rows,
                       long row, int column)
{
    const struct ShownRows *shown = rows->source;
    const struct ObjectRow *object = shown->rows[row];
    const struct ObjectRow *creator = creator_of(&shown->ui->model, object);
    if (column == BY_GROWTH)
        write_growth(cell, object);
    else if (column == BY_BORN)
        ListCell_number(cell, object->born_per_s, Number_rate);
    else if (column == BY_DIED)
        ListCell_number(cell, object->died_per_s, Number_rate);
    else if (column == BY_TYPE)
        ListCell_put(cell, STYLE_PLAIN, is_type(object) ? object->type : "");
    else if (creator && column == BY_FUNCTION)
        ListCell_put(cell, creator->file ? STYLE_PLAIN : STYLE_FAINT,
                     creator->function);
    else if (creator && creator->file)
        ListCell_place(cell, STYLE_FAINT, creator->file, creator->line);
}

// --- Their order

static const char *text_of(const struct ShownRows *shown, const void *row,
                           int column)
{
    const struct ObjectRow *object = row;
    const struct ObjectRow *creator = creator_of(&shown->ui->model, object);
    const char *text = column == BY_TYPE   ? object->type
                       : !creator          ? ""
                       : column == BY_FILE ? creator->file
                                           : creator->function;
    return text ? text : "";
}

// If rows are sorted by growth, types that only grow come first.
static double number_of(const struct ShownRows *shown, const void *row,
                        int column)
{
    const struct ObjectRow *object = row;
    (void)shown;
    return column == BY_BORN   ? object->born_per_s
           : column == BY_DIED ? object->died_per_s
                               : object->net_per_s - object->net_error +
                                     (object->grows == 1 ? 1e15 : 0);
}

static bool is_own(const struct Model *model, const struct ObjectRow *type)
{
    const struct Snapshot *now = model->snapshot;
    for (size_t i = 0; model->own_only && i < now->objects_type_count; i++)
        if (is_of(&now->objects_types[i], type) &&
            Model_shows_file(model, now->objects_types[i].file))
            return true;
    return !model->own_only;
}

// Adds the functions that create objects of the type, in their order.
static void add_creators(struct ShownRows *shown, const struct ObjectRow *type)
{
    const struct Snapshot *now = shown->ui->model.snapshot;
    long first = shown->list.count;
    for (size_t i = 0; i < now->objects_type_count; i++) {
        const struct ObjectRow *row = &now->objects_types[i];
        long at = shown->list.count;
        if (!is_of(row, type) || at == SHOWN_MOST)
            continue;
        for (; at > first && is_before(type, row, shown->rows[at - 1]); at--)
            shown->rows[at] = shown->rows[at - 1];
        shown->rows[at] = row;
        shown->list.count++;
    }
}

// The rows are types of objects, and below an unfolded type the functions that
// create its objects.
static void fill(struct ShownRows *shown)
{
    const struct Ui *ui = shown->ui;
    const struct Snapshot *now = ui->model.snapshot;
    const struct ObjectRow *types[SHOWN_MOST];
    for (size_t i = 0; i < now->objects_type_count; i++) {
        const struct ObjectRow *type = &now->objects_types[i];
        ShownRows_add(shown, type,
                      is_type(type) && is_own(&ui->model, type) &&
                          ShownRows_passes(shown, type));
    }
    size_t count = (size_t)shown->list.count;
    ShownRows_sort(shown);
    memcpy(types, shown->rows, count * sizeof *types);
    shown->list.count = 0;
    for (size_t i = 0; i < count; i++) {
        ShownRows_add(shown, types[i], true);
        if (key_of_row(types[i]) == ui->unfolded_type)
            add_creators(shown, types[i]);
    }
}

// --- As a view

static void draw_title(struct Ui *ui, const struct ShownRows *shown)
{
    const struct Snapshot *now = ui->model.snapshot;
    uint64_t grow = 0;
    struct Strip strip;
    (void)shown;
    for (size_t i = 0; i < now->objects_type_count; i++)
        grow += now->objects_types[i].grows == 1;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Objects");
    if (grow)
        Strip_put(&strip, 1, STYLE_ALERT, "%llu type%s only: a leak?",
                  (unsigned long long)grow, grow == 1 ? " grows" : "s grow");
    if (now->objects_part < 0.95)
        Strip_put(&strip, 2, STYLE_FAINT, "estimated from %.2g %% of the time",
                  100 * now->objects_part);
    if (now->objects_trouble && now->objects_type_count)
        Strip_put(&strip, 3, STYLE_FAINT, "%s", now->objects_trouble);
    Header_add_filter(&strip, &ui->model, 12);
    Ui_draw_title(ui, &strip);
}

static const char *why_none(const struct ShownRows *shown)
{
    const struct Ui *ui = shown->ui;
    const struct Snapshot *now = ui->model.snapshot;
    if (now->objects_trouble)
        return now->objects_trouble;
    return Feed_is_replay(ui->feed)
               ? "Objects were not counted: --events reference counts them."
               : "Objects are being counted.";
}

static void want(struct Ui *ui)
{
    if (!Feed_is_replay(ui->feed))
        Feed_ask(ui->feed, MESSAGE_OBJECTS, 0);
}

static uint64_t function_of(const struct ShownRows *shown, const void *row)
{
    const struct ObjectRow *creator = creator_of(&shown->ui->model, row);
    return creator ? creator->id : 0;
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct ShownRows shown;
    enum ListAnswer answer = ShownRows_answer(&shown, ui, request, key);
    const struct ObjectRow *row = ShownRows_selected(&shown);
    bool opens = answer == LIST_OPENS || request == OBJECTS_FOLD;
    if (opens && row && is_type(row))
        ui->unfolded_type =
            ui->unfolded_type == key_of_row(row) ? 0 : key_of_row(row);
    else if (opens)
        Navigation_enter(ui);
    return answer != LIST_IGNORES || opens;
}

static const struct ShownKind OBJECTS = {
    .list = {.columns = COLUMNS_OF_OBJECTS,
             .column_count = OBJECT_COLUMNS,
             .sorts = true,
             .key = key_of,
             .has = has_text,
             .write = write_cell},
    .text = text_of,
    .number = number_of,
    .second = BY_BORN,
    .fill = fill,
    .draw_title = draw_title,
    .why_none = why_none,
    .function = function_of};

const struct View OBJECTS_VIEW = {
    .name = "Objects",
    .opens = BINDING(0, 0, "objects: births and deaths, types that only grow",
                     NULL, "Objects", 12, 'm'),
    .own = KEYS,
    .can = CAN_SORT | CAN_SEARCH | CAN_FILTER | CAN_FUNCTION | CAN_OWN_CODE,
    .want = want,
    .press = press,
    SHOWN_VIEW(OBJECTS)};
