// SPDX-License-Identifier: MIT
#include "tui/views/view_main.h"

#include "tui/model/column.h"
#include "tui/screen/keymap.h"
#include "tui/text/text.h"
#include "tui/views/detail_lines.h"
#include "tui/views/header_cost.h"
#include "tui/views/header_whole.h"
#include "tui/views/navigation.h"
#include "tui/views/table.h"
#include "tui/views/time_bar.h"
#include "tui/views/ui.h"

#include <stdio.h>
#include <string.h>

#define MENU_TITLE 11 // Width of the menu's titles in cells.

static void prepare(struct List *list, struct Table *table,
                    const struct Model *model, const struct Display *display)
{
    Table_fill(table, model, display);
    list->sort = (int)Model_sort_column(model);
    list->invert = model->invert;
}

// --- Drawing

// Draws the reason why the table of functions is empty.
static void draw_empty(struct Canvas *canvas, const struct Model *model,
                       const struct Layout *layout, const struct Status *status)
{
    char text[MODEL_TEXT + 80];
    if (!model->snapshot)
        Text_clean(text, sizeof text, Status_waiting(status));
    else if (model->own_only && !model->hidden)
        strcpy(text,
               "No function of the program's own code is here. O shows "
               "all code.");
    else if (*model->filter && !model->hidden)
        snprintf(text, sizeof text,
                 "No function or path has \"%s\" in it. Esc drops the filter.",
                 model->filter);
    else if (model->hidden)
        strcpy(text,
               "No function was called in the last minute. i shows "
               "those that are idle.");
    else if (model->one_thread)
        strcpy(text,
               "No function of this thread was sampled recently. Esc "
               "shows all threads.");
    else
        strcpy(text, "No Python function has run since tracing started.");
    Canvas_fit(canvas,
               (struct Box){layout->body_y + (layout->body_height > 2), 2,
                            canvas->width - 3},
               STYLE_FAINT, CUT_END, text);
}

// Draws the numbers of the selected function. The bar of time is in the blank
// line above the numbers, if there is such a line.
static void draw_detail(struct Canvas *canvas, const struct Model *model,
                        const struct List *list, const struct Layout *layout,
                        const struct Status *status)
{
    const struct Row *row = Model_row(model, (size_t)list->selected);
    struct Box line = {layout->detail_y - 1, 2, canvas->width - 3};
    if (layout->body_y + layout->body_height <= line.y)
        TimeBar_draw(canvas, line, row, model->snapshot);
    DetailLines_draw(canvas, row, layout, &status->display);
}

// --- The menu of columns to sort by, in place of the rows

static bool is_offered(const struct Model *model, long column)
{
    return Column_is_in((enum ColumnId)column, model->latency) &&
           (model->sampled || !COLUMNS[column].sampled) &&
           (model->fleet || !Column_is_of_fleet((enum ColumnId)column));
}

static long column_of(const struct ListRows *rows, long row)
{
    const struct Model *model = rows->source;
    long column = 0;
    for (; column < COLUMN_COUNT; column++)
        if (is_offered(model, column) && row-- == 0)
            break;
    return column;
}

static void write_menu(struct ListCell *cell, const struct ListRows *rows,
                       long row, int column)
{
    const struct Model *model = rows->source;
    long id = column_of(rows, row);
    bool now = id == (long)Model_sort_column(model);
    bool up = COLUMNS[id].by_text != model->invert;
    enum Style style = now ? STYLE_ACCENT : STYLE_PLAIN;
    if (column == 0)
        ListCell_put(cell, style, !now ? "" : up ? "▲" : "▼");
    else if (column == 1)
        ListCell_put(cell, style, TABLE[id].title);
    else
        ListCell_put(cell, STYLE_FAINT, TABLE[id].about);
}

static struct ListRows menu_rows(const struct Model *model)
{
    static const struct ListColumn columns[] = {
        {.width = 1, .gap = 2, .left = true},
        {.width = MENU_TITLE, .gap = 1, .left = true},
        {.width = 20, .gap = 1, .left = true, .grows = 100},
    };
    struct ListRows rows = {.source = model,
                            .columns = columns,
                            .column_count = 3,
                            .write = write_menu};
    for (int i = 0; i < COLUMN_COUNT; i++)
        rows.count += is_offered(model, i);
    return rows;
}

static void open_menu(struct Ui *ui)
{
    struct ListRows rows = menu_rows(&ui->model);
    long row = 0;
    while (column_of(&rows, row) < (long)Model_sort_column(&ui->model))
        row++;
    ui->sort_menu = true;
    ui->sort_list = (struct List){.selected = row};
}

static void draw_menu(struct Ui *ui)
{
    const struct Layout *layout = &ui->layout;
    struct Canvas *canvas = &ui->canvas;
    struct ListRows rows = menu_rows(&ui->model);
    struct Box line = {layout->table_y, 0, canvas->width};
    List_draw(&ui->sort_list, &rows, canvas, line, layout->body_height);
    Canvas_put(canvas, line.y, 2, line.width, STYLE_HEAD,
               "SORT BY: Enter chooses, Esc leaves it as it is");
}

// Handles a key while the menu is open. A key that does not move the selection
// closes the menu. Returns false if the key must also have its usual effect.
static bool press_menu(struct Ui *ui, int request, uint32_t key)
{
    struct List *list = &ui->sort_list;
    struct ListRows rows = menu_rows(&ui->model);
    long before = list->selected;
    enum ListAnswer answer = List_press(list, &rows, request, key);
    bool click = request == REQUEST_CLICK;
    if (answer == LIST_DONE && !click)
        return true;
    ui->sort_menu = false;
    if (key == PRESS_ENTER || answer == LIST_OPENS ||
        (click && list->selected != before))
        Model_sort_by(&ui->model,
                      (enum ColumnId)column_of(&rows, list->selected));
    return click || key == PRESS_ENTER || request == REQUEST_BACK ||
           request == REQUEST_CLOSE || request == REQUEST_SORT_MENU;
}

// --- As two views, which have the same list

static void draw(struct Ui *ui, const struct Status *status)
{
    struct Canvas *canvas = &ui->canvas;
    const struct Model *model = &ui->model;
    const struct Layout *layout = &ui->layout;
    struct List *list = &ui->lists[VIEW_MAIN];
    struct Table table;
    if (model->snapshot) {
        HeaderCost_draw(canvas, model);
        HeaderWhole_draw(canvas, model, status);
    }
    if (ui->sort_menu) {
        draw_menu(ui);
        return;
    }
    prepare(list, &table, model, &status->display);
    list->unmarked = layout->footer_y < 0;
    List_draw(list, &table.rows, canvas,
              (struct Box){layout->table_y, 0, canvas->width},
              layout->body_height);
    if (!list->count)
        draw_empty(canvas, model, layout, status);
    else if (layout->detail_y >= 0)
        draw_detail(canvas, model, list, layout, status);
}

static bool find(struct Ui *ui, int step, bool here)
{
    struct Table table;
    Table_fill(&table, &ui->model, NULL);
    return List_find(&ui->lists[VIEW_MAIN], &table.rows, ui->model.search, step,
                     here);
}

static uint64_t selected_function(const struct Ui *ui)
{
    struct Table table;
    Table_fill(&table, &ui->model, NULL);
    long row = List_selected(&ui->lists[VIEW_MAIN], &table.rows);
    return row < 0 ? 0 : Model_row(&ui->model, (size_t)row)->id;
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct Model *model = &ui->model;
    struct List *list = &ui->lists[VIEW_MAIN];
    struct Table table;
    if (ui->sort_menu && press_menu(ui, request, key))
        return true;
    if (request == REQUEST_SORT_MENU) {
        open_menu(ui);
        return true;
    }
    if (request == REQUEST_IDLE) {
        Model_toggle_idle(model);
        return true;
    }
    prepare(list, &table, model, NULL);
    switch (List_press(list, &table.rows, request, key)) {
    case LIST_IGNORES:
        return false;
    case LIST_OPENS:
        Navigation_enter(ui);
        return true;
    case LIST_SORTS:
        if (list->invert != model->invert)
            Model_invert(model);
        else
            Model_sort_by(model, (enum ColumnId)list->sort);
        return true;
    default:
        return true;
    }
}

static void want(struct Ui *ui)
{
    Model_show_latency(&ui->model, ui->view == VIEW_LATENCY);
    const struct Row *row =
        Model_row(&ui->model, (size_t)ui->lists[VIEW_MAIN].selected);
    // The column CPU needs the sampled stacks. Calls in flight that no hook has
    // seen begin are found in tasks.
    if (ui->view == VIEW_LATENCY)
        FlameState_ask(&ui->flame, ui->feed, ui->model.snapshot);
    if ((ui->view == VIEW_LATENCY || TimeBar_wants_tasks(row)) &&
        !Feed_is_replay(ui->feed))
        Feed_ask(ui->feed, MESSAGE_TASKS, 0);
}

const struct View MAIN_VIEW = {.name = "Functions",
                               .can = CAN_SORT | CAN_SEARCH | CAN_FILTER |
                                      CAN_FUNCTION | CAN_UNITS | CAN_COUNT |
                                      CAN_RESET | CAN_HIDE | CAN_OWN_CODE,
                               .want = want,
                               .draw = draw,
                               .press = press,
                               .find = find,
                               .function = selected_function};

const struct View LATENCY_VIEW = {
    .name = "Latency",
    .opens = BINDING(0, 0, "latency: how long calls take, with their awaits",
                     NULL, "Latency", 7, 'l'),
    .can = CAN_SORT | CAN_SEARCH | CAN_FILTER | CAN_FUNCTION | CAN_COUNT |
           CAN_RESET | CAN_HIDE | CAN_OWN_CODE,
    .want = want,
    .draw = draw,
    .press = press,
    .find = find,
    .function = selected_function};
