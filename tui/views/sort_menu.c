// SPDX-License-Identifier: MIT
// See sort_menu.h.
#include "tui/views/sort_menu.h"

#include "tui/model/column.h"
#include "tui/views/table.h"
#include "tui/views/ui.h"

#define TITLE_WIDTH 11

static bool is_there(const struct Model *model, int column)
{
    return model->sampled || !COLUMNS[column].sampled;
}

// Returns the column on that line of the menu; COLUMN_COUNT if none.
static int column_at(const struct Model *model, long index)
{
    int column = 0;
    for (; column < COLUMN_COUNT; column++)
        if (is_there(model, column) && index-- == 0)
            break;
    return column;
}

static long count(const struct Model *model)
{
    long lines = 0;
    for (int column = 0; column < COLUMN_COUNT; column++)
        lines += is_there(model, column);
    return lines;
}

void SortMenu_open(struct Ui *ui)
{
    struct List *list = &ui->sort_list;
    int now = (int)Model_sort_column(&ui->model);
    ui->sort_menu = true;
    *list = (struct List){0};
    List_fit(list, count(&ui->model), ui->layout.body_height);
    while (column_at(&ui->model, list->selected) < now)
        List_select(list, list->selected + 1);
}

void SortMenu_draw(struct Ui *ui)
{
    const struct Layout *layout = &ui->layout;
    struct Canvas *canvas = &ui->canvas;
    struct List *list = &ui->sort_list;
    int now = (int)Model_sort_column(&ui->model), width = canvas->width;
    Canvas_paint(canvas, (struct Box){layout->table_y, 0, width}, STYLE_HEAD);
    Canvas_put(canvas, layout->table_y, 2, width, STYLE_HEAD,
               "SORT BY: Enter chooses, Esc leaves it as it is");
    List_fit(list, count(&ui->model), layout->body_height);
    for (long i = list->top; i < list->count && i < list->top + list->height;
         i++) {
        int y = layout->body_y + (int)(i - list->top);
        int column = column_at(&ui->model, i);
        enum Style style = column == now ? STYLE_ACCENT : STYLE_PLAIN;
        bool up = COLUMNS[column].by_text != ui->model.invert;
        if (column == now)
            Canvas_put(canvas, y, 2, width, style, up ? "▲" : "▼");
        Canvas_fit(canvas, (struct Box){y, 4, TITLE_WIDTH}, style, CUT_END,
                   TABLE[column].title);
        Canvas_fit(canvas,
                   (struct Box){y, 5 + TITLE_WIDTH, width - 6 - TITLE_WIDTH},
                   STYLE_FAINT, CUT_END, TABLE[column].about);
        if (i != list->selected)
            continue;
        Canvas_put(canvas, y, 0, 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas, (struct Box){y, 0, width});
    }
}

static void choose(struct Ui *ui)
{
    long line = ui->sort_list.selected;
    Model_sort_by(&ui->model, (enum ColumnId)column_at(&ui->model, line));
}

bool SortMenu_press(struct Ui *ui, int request, uint32_t key)
{
    struct List *list = &ui->sort_list;
    if (List_move(list, request))
        return true;
    ui->sort_menu = false;
    if (request == REQUEST_CLICK) {
        long line = List_at(list, Key_y(key) - ui->layout.body_y);
        if (line < 0)
            return true;
        List_select(list, line);
    }
    if (request == REQUEST_CLICK || key == PRESS_ENTER)
        choose(ui);
    return request == REQUEST_CLICK || key == PRESS_ENTER ||
           request == REQUEST_BACK || request == REQUEST_CLOSE ||
           request == REQUEST_SORT_MENU;
}
