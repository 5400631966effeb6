// SPDX-License-Identifier: MIT
// See view_main.h.
#include "tui/views/view_main.h"

#include "tui/model/column.h"
#include "tui/screen/keymap.h"
#include "tui/screen/list.h"
#include "tui/text/text.h"
#include "tui/views/detail.h"
#include "tui/views/display.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/sort_menu.h"
#include "tui/views/table.h"
#include "tui/views/ui.h"

#include <stdio.h>
#include <string.h>

// --- The table

static void draw_titles(struct Canvas *canvas, const struct Model *model,
                        const struct Layout *layout,
                        const struct Display *display)
{
    enum ColumnId sort = Model_sort_column(model);
    int y = layout->table_y;
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_HEAD);
    for (int i = 0; i < layout->column_count; i++) {
        const struct LayoutColumn *place = &layout->columns[i];
        const struct TableColumn *column = &TABLE[place->id];
        struct Box box = {y, place->x, place->width};
        uint8_t style = place->id == (int)sort ? STYLE_HEAD_SORT : STYLE_HEAD;
        const char *title = display->ns && column->time_title
                                ? column->time_title
                                : column->title;
        if (column->left)
            Canvas_fit(canvas, box, style, CUT_END, title);
        else
            Canvas_fit_right(canvas, box, style, title);
        if (place->id != (int)sort)
            continue;
        // The arrow stands after the title, in the gap if need be.
        int at = place->x + place->width;
        if (column->left)
            at = place->x + Canvas_measure(canvas, title);
        bool up = COLUMNS[place->id].by_text != model->invert;
        Canvas_put(canvas, y, at, at + 1, style, up ? "▲" : "▼");
        box.width = at + 1 - place->x;
        Canvas_paint(canvas, box, style);
    }
}

static void draw_row(struct Canvas *canvas, const struct Layout *layout,
                     const struct Row *row, const struct Display *display,
                     int y)
{
    struct TableText cell;
    for (int i = 0; i < layout->column_count; i++) {
        const struct LayoutColumn *place = &layout->columns[i];
        const struct TableColumn *column = &TABLE[place->id];
        struct Box box = {y, place->x, place->width};
        Table_write(&cell, (enum ColumnId)place->id, row, display);
        const char *text = cell.text;
        if (place->id == COLUMN_FILE)
            Canvas_fit_path(canvas, box, cell.style, text);
        else if (column->left)
            Canvas_fit(canvas, box, cell.style, column->cut, text);
        else
            Canvas_fit_right(canvas, box, cell.style, text);
    }
}

// Says why there is no row.
static void draw_empty(struct Canvas *canvas, const struct Model *model,
                       const struct Layout *layout, const struct Status *status)
{
    char text[MODEL_TEXT + 80];
    if (!model->snapshot)
        Text_clean(text, sizeof text, Status_waiting(status));
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
               "No function of this thread was sampled lately. Esc "
               "shows all threads.");
    else
        strcpy(text, "No Python function has run since tracing started.");
    Canvas_fit(canvas,
               (struct Box){layout->body_y + (layout->body_height > 2), 2,
                            canvas->width - 3},
               STYLE_FAINT, CUT_END, text);
}

static void draw_body(struct Canvas *canvas, const struct Model *model,
                      const struct Layout *layout, const struct Status *status)
{
    for (int i = 0; i < layout->body_height; i++) {
        size_t index = model->top + (size_t)i;
        const struct Row *row = Model_row(model, index);
        int y = layout->body_y + i;
        if (!row)
            break;
        draw_row(canvas, layout, row, &status->display, y);
        if (index != model->selected || layout->footer_y < 0)
            continue;
        Canvas_put(canvas, y, 0, 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas, (struct Box){y, 0, canvas->width});
    }
    if (model->shown == 0)
        draw_empty(canvas, model, layout, status);
}

void ViewMain_draw(struct Canvas *canvas, const struct Model *model,
                   const struct Layout *layout, const struct Status *status)
{
    Header_draw(canvas, model, status);
    draw_titles(canvas, model, layout, &status->display);
    draw_body(canvas, model, layout, status);
    if (layout->detail_y >= 0)
        Detail_draw(canvas, model, layout, &status->display);
}

// --- As a view

void ViewMain_show(struct Ui *ui, const struct Status *status)
{
    Model_scroll(&ui->model, ui->layout.body_height);
    if (ui->sort_menu) {
        Header_draw(&ui->canvas, &ui->model, status);
        SortMenu_draw(ui);
        return;
    }
    ViewMain_draw(&ui->canvas, &ui->model, &ui->layout, status);
}

bool ViewMain_find(struct Ui *ui, int step, bool here)
{
    return Model_find(&ui->model, step, here);
}

void ViewMain_begin_search(struct Ui *ui)
{
    const struct Row *row = Model_selected(&ui->model);
    ui->origin = row ? row->id : 0;
    ui->origin_follows = ui->model.follows;
}

// Finds the row again, wherever it has moved.
void ViewMain_restart_search(struct Ui *ui)
{
    if (!ui->origin_follows || !Model_choose(&ui->model, ui->origin))
        Model_home(&ui->model);
}

uint64_t ViewMain_function(const struct Ui *ui)
{
    const struct Row *row = Model_selected(&ui->model);
    return row ? row->id : 0;
}

static void sort_by_neighbour(struct Ui *ui, int step)
{
    const struct Layout *layout = &ui->layout;
    int at = 0;
    if (!layout->column_count)
        return;
    for (int i = 0; i < layout->column_count; i++)
        if (layout->columns[i].id == (int)Model_sort_column(&ui->model))
            at = i;
    at = (at + step + layout->column_count) % layout->column_count;
    Model_sort_by(&ui->model, (enum ColumnId)layout->columns[at].id);
}

// A click on a title sorts by it, or inverts the order. A click on a row
// selects it, and one on the selected row opens it.
static void click(struct Ui *ui, int x, int y)
{
    const struct Layout *layout = &ui->layout;
    struct Model *model = &ui->model;
    long row = y - layout->body_y;
    if (y == layout->table_y) {
        for (int i = 0; i < layout->column_count; i++) {
            const struct LayoutColumn *column = &layout->columns[i];
            if (x < column->x - 1 || x > column->x + column->width)
                continue;
            if (column->id == (int)Model_sort_column(model))
                Model_invert(model);
            else
                Model_sort_by(model, (enum ColumnId)column->id);
            return;
        }
    }
    if (row < 0 || row >= layout->body_height ||
        model->top + (size_t)row >= model->shown)
        return;
    row += (long)model->top - (long)model->selected;
    if (row)
        Model_move(model, row);
    else
        Navigation_enter(ui);
}

bool ViewMain_press(struct Ui *ui, int request, uint32_t key)
{
    struct Model *model = &ui->model;
    long page = ui->layout.body_height > 1 ? ui->layout.body_height - 1 : 1;
    if (ui->sort_menu && SortMenu_press(ui, request, key))
        return true;
    switch (request) {
    case REQUEST_CLICK:
        click(ui, Key_x(key), Key_y(key));
        return true;
    case REQUEST_SCROLL_UP:
        Model_move(model, -LIST_SCROLL);
        return true;
    case REQUEST_SCROLL_DOWN:
        Model_move(model, LIST_SCROLL);
        return true;
    case REQUEST_UP:
        Model_move(model, -1);
        return true;
    case REQUEST_DOWN:
        Model_move(model, 1);
        return true;
    case REQUEST_PAGE_UP:
        Model_move(model, -page);
        return true;
    case REQUEST_PAGE_DOWN:
        Model_move(model, page);
        return true;
    case REQUEST_HOME:
        Model_home(model);
        return true;
    case REQUEST_END:
        Model_end(model);
        return true;
    case REQUEST_SORT_MENU:
        SortMenu_open(ui);
        return true;
    case REQUEST_SORT_NEXT:
        sort_by_neighbour(ui, 1);
        return true;
    case REQUEST_SORT_PREVIOUS:
        sort_by_neighbour(ui, -1);
        return true;
    case REQUEST_INVERT:
        Model_invert(model);
        return true;
    case REQUEST_IDLE:
        Model_toggle_idle(model);
        return true;
    default:
        return false;
    }
}
