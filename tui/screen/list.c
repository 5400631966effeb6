// SPDX-License-Identifier: MIT
#include "tui/screen/list.h"

#include "tui/screen/key.h"
#include "tui/screen/keymap.h"
#include "tui/text/text.h"

#include <stdio.h>

// Longest text of a cell in bytes. A number of a line can follow it.
#define LIST_MOST (LIST_TEXT - 64)

void ListCell_put(struct ListCell *cell, enum Style style, const char *text)
{
    snprintf(cell->text, sizeof cell->text, "%s", Text_tail(text, LIST_MOST));
    cell->style = (uint8_t)style;
}

// --- Where the columns are

static bool is_absent(const struct ListRows *rows, int column)
{
    return rows->absent >> column & 1;
}

// Returns the first column at or after `column` that grows with the screen, or
// -1.
static int growing(const struct ListRows *rows, int column)
{
    for (; column < rows->column_count; column++)
        if (rows->columns[column].grows)
            return column;
    return -1;
}

// Returns the column with this importance, or -1.
static int ranked(const struct ListRows *rows, int importance)
{
    for (int i = 0; i < rows->column_count; i++)
        if (rows->columns[i].importance == importance && !is_absent(rows, i))
            return i;
    return -1;
}

// Decides which columns are shown. After the first column that does not fit, no
// further columns are tried, even if they are narrower. Returns the number of
// cells that remain for the growing columns.
static int admit(bool there[LIST_COLUMNS], const struct List *list,
                 const struct ListRows *rows, int width)
{
    int main = growing(rows, 0);
    for (int i = 0; i < rows->column_count; i++) {
        const struct ListColumn *column = &rows->columns[i];
        there[i] = !is_absent(rows, i) &&
                   (!column->importance || (rows->sorts && i == list->sort));
        if (there[i])
            width -= column->gap + (i == main ? 0 : column->width);
    }
    for (int rank = 1; rank <= rows->column_count; rank++) {
        int id = ranked(rows, rank);
        if (id < 0 || there[id])
            continue;
        const struct ListColumn *column = &rows->columns[id];
        int left = width - column->gap - column->width;
        if (left < column->room || left < rows->columns[main].width)
            break;
        there[id] = true;
        width = left;
    }
    return width;
}

// Divides the remaining cells among the two growing columns.
static void share_out(const struct ListColumn *first,
                      const struct ListColumn *second, int cells, int widths[2])
{
    int spare = cells - second->room;
    widths[0] = cells;
    if (spare > 0)
        widths[0] = second->room + spare * first->grows / 100;
    if (first->most && widths[0] > first->most)
        widths[0] = first->most;
    widths[1] = second->width + cells - widths[0];
    if (!second->most || widths[1] <= second->most)
        return;
    widths[0] += widths[1] - second->most;
    widths[1] = second->most;
}

void List_arrange(struct List *list, const struct ListRows *rows, int width)
{
    bool there[LIST_COLUMNS];
    int cells = admit(there, list, rows, width), x = 0, widths[2] = {cells, 0};
    int first = growing(rows, 0), second = growing(rows, first + 1);
    if (second >= 0 && there[second])
        share_out(&rows->columns[first], &rows->columns[second], cells, widths);
    list->column_count = 0;
    for (int i = 0; i < rows->column_count; i++) {
        if (!there[i])
            continue;
        int wide = i == first    ? widths[0]
                   : i == second ? widths[1]
                                 : rows->columns[i].width;
        x += rows->columns[i].gap;
        list->columns[list->column_count++] =
            (struct ListPlace){i, x, wide > 0 ? wide : 0};
        x += wide;
    }
}

const struct ListPlace *List_place(const struct List *list, int column)
{
    for (int i = 0; i < list->column_count; i++)
        if (list->columns[i].column == column)
            return &list->columns[i];
    return NULL;
}

// --- Drawing

static void draw_text(struct Canvas *canvas, struct Box box,
                      const struct ListColumn *column, uint8_t style,
                      const char *text)
{
    if (column->path)
        Canvas_fit_path(canvas, box, style, text);
    else if (column->left)
        Canvas_fit(canvas, box, style, column->cut, text);
    else
        Canvas_fit_right(canvas, box, style, text);
}

// Draws an arrow that shows the order, behind the title of a column. The arrow
// may be in the gap after the column.
static void draw_arrow(const struct List *list, struct Canvas *canvas,
                       struct Box box, const struct ListColumn *column)
{
    bool up = column->a_to_z != list->invert;
    int at = box.x + box.width;
    if (column->left)
        at = box.x + Canvas_measure(canvas, column->title);
    Canvas_put(canvas, box.y, at, at + 1, STYLE_HEAD_SORT, up ? "▲" : "▼");
    box.width = at + 1 - box.x;
    Canvas_paint(canvas, box, STYLE_HEAD_SORT);
}

// Moves a title at the right of its cell to the left by one cell, if its arrow
// would otherwise touch the next title. Returns the number of cells by which
// the next title must move to the right, if the cell before is not free.
static int make_room(const struct List *list, const struct ListRows *rows,
                     struct Canvas *canvas, struct Box *box, int index)
{
    const struct ListPlace *next = &list->columns[index + 1];
    if (index + 1 >= list->column_count)
        return 0;
    const struct ListColumn *own = &rows->columns[next[-1].column];
    const struct ListColumn *other = &rows->columns[next->column];
    int width = other->title ? Canvas_measure(canvas, other->title) : 0;
    int begin = other->left ? next->x : next->x + next->width - width;
    int x = box->x + box->width - Canvas_measure(canvas, own->title) - 2;
    if (own->left || !width || begin > next[-1].x + box->width + 1)
        return 0;
    if (x < 0 || Canvas_cell(canvas, box->y, x)->code != ' ')
        return 1;
    box->x--;
    return 0;
}

static void draw_titles(const struct List *list, const struct ListRows *rows,
                        struct Canvas *canvas, struct Box line)
{
    Canvas_paint(canvas, (struct Box){line.y, line.x, canvas->width - line.x},
                 STYLE_HEAD);
    int moved = 0;
    for (int i = 0; i < list->column_count; i++) {
        const struct ListPlace *place = &list->columns[i];
        struct ListColumn column = rows->columns[place->column];
        struct Box box = {line.y, line.x + place->x, place->width};
        bool sorts = rows->sorts && place->column == list->sort;
        if (!column.title)
            continue;
        column.path = false;
        column.cut = CUT_END;
        box.x += moved;
        moved = sorts ? make_room(list, rows, canvas, &box, i) : 0;
        draw_text(canvas, box, &column, sorts ? STYLE_HEAD_SORT : STYLE_HEAD,
                  column.title);
        if (sorts)
            draw_arrow(list, canvas, box, &column);
    }
}

static void draw_cells(const struct List *list, const struct ListRows *rows,
                       struct Canvas *canvas, struct Box line, long row)
{
    struct ListCell cell;
    for (int i = 0; i < list->column_count; i++) {
        const struct ListPlace *place = &list->columns[i];
        const struct ListColumn *column = &rows->columns[place->column];
        struct Box box = {line.y, line.x + place->x, place->width};
        if (column->draw) {
            column->draw(canvas, box, rows, row);
            continue;
        }
        ListCell_put(&cell, STYLE_PLAIN, "");
        rows->write(&cell, rows, row, place->column);
        draw_text(canvas, box, column, cell.style, cell.text);
    }
}

static void draw_row(const struct List *list, const struct ListRows *rows,
                     struct Canvas *canvas, struct Box line, long row)
{
    if (!rows->draw || !rows->draw(canvas, line, rows, row))
        draw_cells(list, rows, canvas, line, row);
    if (row != list->selected || list->unmarked)
        return;
    Canvas_put(canvas, line.y, line.x, line.x + 1, STYLE_ACCENT, "▸");
    Canvas_select(canvas, line);
}

void List_draw(struct List *list, const struct ListRows *rows,
               struct Canvas *canvas, struct Box box, int height)
{
    list->place = box;
    List_arrange(list, rows, box.width - 1);
    List_fit(list, rows, height);
    draw_titles(list, rows, canvas, box);
    for (int i = 0; i < height && list->top + i < rows->count; i++) {
        box.y++;
        draw_row(list, rows, canvas, box, list->top + i);
    }
}

// --- The selection

static long clamp(long value, long least, long most)
{
    if (value > most)
        value = most;
    return value < least ? least : value;
}

long List_selected(const struct List *list, const struct ListRows *rows)
{
    long place = clamp(list->selected, 0, rows->count - 1);
    if (!rows->count)
        return -1;
    if (!rows->key)
        return place;
    if (!list->key)
        return 0;
    if (rows->key(rows, place) == list->key)
        return place;
    for (long row = 0; row < rows->count; row++)
        if (rows->key(rows, row) == list->key)
            return row;
    return place; // The row is not listed any more, so the position is kept.
}

void List_fit(struct List *list, const struct ListRows *rows, long height)
{
    list->count = rows->count;
    list->height = height > 1 ? height : 1;
    list->selected = List_selected(list, rows);
    list->selected = list->selected < 0 ? 0 : list->selected;
    list->top =
        clamp(list->top, list->selected - list->height + 1, list->selected);
    list->top = clamp(list->top, 0, list->count - list->height);
}

void List_select(struct List *list, const struct ListRows *rows, long row)
{
    list->selected = clamp(row, 0, rows->count - 1);
    list->key = 0;
    if (rows->key && rows->count && !(rows->newest_first && !list->selected))
        list->key = rows->key(rows, list->selected);
}

bool List_find(struct List *list, const struct ListRows *rows, const char *text,
               int step, bool here)
{
    long selected = List_selected(list, rows);
    if (!*text)
        return false;
    for (long away = here ? 0 : 1; away <= rows->count; away++) {
        long row = selected + step * away;
        if (!rows->count)
            break;
        row = (row % rows->count + rows->count) % rows->count;
        if (!rows->has(rows, row, text))
            continue;
        List_select(list, rows, row);
        return true;
    }
    return false;
}

// --- Keys and the mouse

static enum ListAnswer click_title(struct List *list,
                                   const struct ListRows *rows, int x)
{
    for (int i = 0; rows->sorts && i < list->column_count; i++) {
        const struct ListPlace *place = &list->columns[i];
        if (x < place->x - 1 || x > place->x + place->width)
            continue;
        list->invert ^= place->column == list->sort;
        list->sort = place->column;
        return LIST_SORTS;
    }
    return LIST_DONE;
}

static enum ListAnswer click(struct List *list, const struct ListRows *rows,
                             uint32_t key)
{
    int x = Key_x(key) - list->place.x, line = Key_y(key) - list->place.y - 1;
    long row = list->top + line;
    if (x < 0 || x >= list->place.width)
        return LIST_DONE;
    if (line == -1)
        return click_title(list, rows, x);
    if (line < 0 || line >= list->height || row >= rows->count)
        return LIST_DONE;
    bool again = row == list->selected;
    List_select(list, rows, row);
    return again ? LIST_OPENS : LIST_DONE;
}

static enum ListAnswer sort_by_neighbour(struct List *list, int step)
{
    int at = 0;
    if (!list->column_count)
        return LIST_DONE;
    for (int i = 0; i < list->column_count; i++)
        if (list->columns[i].column == list->sort)
            at = i;
    at = (at + step + list->column_count) % list->column_count;
    list->sort = list->columns[at].column;
    return LIST_SORTS;
}

static enum ListAnswer move(struct List *list, const struct ListRows *rows,
                            long step)
{
    List_select(list, rows, list->selected + step);
    return LIST_DONE;
}

enum ListAnswer List_press(struct List *list, const struct ListRows *rows,
                           int request, uint32_t key)
{
    List_fit(list, rows, list->height);
    long page = list->height > 1 ? list->height - 1 : 1;
    switch (request) {
    case REQUEST_UP:
        return move(list, rows, -1);
    case REQUEST_DOWN:
        return move(list, rows, 1);
    case REQUEST_PAGE_UP:
        return move(list, rows, -page);
    case REQUEST_PAGE_DOWN:
        return move(list, rows, page);
    case REQUEST_SCROLL_UP:
        return move(list, rows, -LIST_SCROLL);
    case REQUEST_SCROLL_DOWN:
        return move(list, rows, LIST_SCROLL);
    case REQUEST_HOME:
        list->selected = 0;
        list->key = 0;
        return LIST_DONE;
    case REQUEST_END:
        return move(list, rows, rows->count);
    case REQUEST_CLICK:
        return click(list, rows, key);
    case REQUEST_SORT_NEXT:
        return rows->sorts ? sort_by_neighbour(list, 1) : LIST_IGNORES;
    case REQUEST_SORT_PREVIOUS:
        return rows->sorts ? sort_by_neighbour(list, -1) : LIST_IGNORES;
    case REQUEST_INVERT:
        list->invert ^= rows->sorts;
        return rows->sorts ? LIST_SORTS : LIST_IGNORES;
    default:
        return LIST_IGNORES;
    }
}

int List_half(const struct ListRows *rows, int lines)
{
    int half = (lines - 1) / 2;
    return rows->count < half ? (int)rows->count : half;
}

bool List_scroll(int *top, int page, int request)
{
    // As the caller limits *top, no text has as many lines as this.
    struct ListRows lines = {.count = 1 << 16};
    struct List list = {.selected = *top, .height = page + 1};
    if (request == REQUEST_CLICK ||
        List_press(&list, &lines, request, 0) == LIST_IGNORES)
        return false;
    *top = (int)list.selected;
    return true;
}
