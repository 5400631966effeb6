// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // qsort_r, strverscmp
#include "tui/views/shown_rows.h"

#include "tui/views/navigation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ShownKind *kind_of(const struct ShownRows *shown)
{
    return Navigation_front(shown->ui)->shown;
}

void ShownRows_fill(struct ShownRows *shown, const struct Ui *ui)
{
    shown->ui = ui;
    shown->of = NULL;
    shown->parts = 0;
    shown->list = kind_of(shown)->list;
    shown->list.source = shown;
    if (ui->model.snapshot)
        kind_of(shown)->fill(shown);
}

void ShownRows_add(struct ShownRows *shown, const void *row, bool passes)
{
    shown->parts++;
    if (passes && shown->list.count < SHOWN_MOST)
        shown->rows[shown->list.count++] = row;
}

bool ShownRows_passes(struct ShownRows *shown, const void *row)
{
    const char *filter = shown->ui->model.filter;
    long at = shown->list.count;
    if (!*filter || at == SHOWN_MOST)
        return true;
    shown->rows[at] = row;
    return shown->list.has(&shown->list, at, filter);
}

static const struct List *list_of(const struct ShownRows *shown)
{
    return &shown->ui->lists[shown->ui->view];
}

// Compares texts from A to Z, and numbers from the largest to NAN.
static int compare_in(const struct ShownRows *shown, const void *one,
                      const void *other, int column)
{
    const struct ShownKind *kind = kind_of(shown);
    if (kind->list.columns[column].a_to_z)
        return strverscmp(kind->text(shown, one, column),
                          kind->text(shown, other, column));
    // fmax() returns the other value for NAN.
    double a = fmax(kind->number(shown, one, column), -INFINITY);
    double b = fmax(kind->number(shown, other, column), -INFINITY);
    return (a < b) - (a > b);
}

static int compare(const void *left, const void *right, void *context)
{
    const void *one = *(const void *const *)left;
    const void *other = *(const void *const *)right;
    const struct ShownRows *shown = context;
    const struct List *list = list_of(shown);
    int result = compare_in(shown, one, other, list->sort);
    if (list->invert)
        result = -result;
    if (!result)
        result = compare_in(shown, one, other, kind_of(shown)->second);
    return result ? result : (one > other) - (one < other);
}

void ShownRows_sort(struct ShownRows *shown)
{
    qsort_r(shown->rows, (size_t)shown->list.count, sizeof *shown->rows,
            compare, shown);
}

void ShownRows_drop_empty(struct ShownRows *shown, int column)
{
    for (long i = 0; i < shown->list.count; i++)
        if (isfinite(kind_of(shown)->number(shown, shown->rows[i], column)))
            return;
    if (list_of(shown)->sort != column)
        shown->list.absent |= 1U << column;
}

const char *ShownRows_why_none(const struct ShownRows *shown)
{
    if (!shown->parts)
        return kind_of(shown)->why_none(shown);
    return *shown->ui->model.filter
               ? "The filter hides all of it. Esc, Esc drops it."
               : "The program's own code has none. O shows all code.";
}

const void *ShownRows_selected(const struct ShownRows *shown)
{
    long row = List_selected(list_of(shown), &shown->list);
    return row < 0 ? NULL : shown->rows[row];
}

enum ListAnswer ShownRows_answer(struct ShownRows *shown, struct Ui *ui,
                                 int request, uint32_t key)
{
    ShownRows_fill(shown, ui);
    if (request == REQUEST_SORT_MENU)
        request = REQUEST_SORT_NEXT;
    return List_press(&ui->lists[ui->view], &shown->list, request, key);
}

void ShownRows_draw(struct Ui *ui, const struct Status *status)
{
    struct Box box = {ui->layout.table_y, 0, ui->canvas.width};
    int body = ui->layout.body_height, height = body;
    struct ShownRows shown;
    if (!ui->model.snapshot) {
        Ui_draw_nothing(ui, Status_waiting(status));
        return;
    }
    ShownRows_fill(&shown, ui);
    const struct ShownKind *kind = kind_of(&shown);
    kind->draw_title(ui, &shown);
    if (kind->height)
        height = kind->height(&shown, body);
    List_draw(&ui->lists[ui->view], &shown.list, &ui->canvas, box, height);
    const void *row = ShownRows_selected(&shown);
    box.y += height + 1;
    if (row && height < body)
        kind->draw_below(ui, &shown, row, box, body - height);
    if (!shown.list.count)
        Ui_draw_nothing(ui, ShownRows_why_none(&shown));
}

bool ShownRows_find(struct Ui *ui, int step, bool here)
{
    struct ShownRows shown;
    ShownRows_fill(&shown, ui);
    return List_find(&ui->lists[ui->view], &shown.list, ui->model.search, step,
                     here);
}

bool ShownRows_press(struct Ui *ui, int request, uint32_t key)
{
    struct ShownRows shown;
    enum ListAnswer answer = ShownRows_answer(&shown, ui, request, key);
    if (answer == LIST_OPENS)
        Navigation_enter(ui);
    return answer != LIST_IGNORES;
}

static uint64_t member_of(const void *row, size_t offset)
{
    return *(const uint64_t *)((const char *)row + offset);
}

uint64_t ShownRows_function(const struct Ui *ui)
{
    struct ShownRows shown;
    ShownRows_fill(&shown, ui);
    const struct ShownKind *kind = kind_of(&shown);
    const void *row = ShownRows_selected(&shown);
    uint64_t id = !row && !shown.of ? 0
                  : kind->function  ? kind->function(&shown, row)
                                    : member_of(row, kind->id);
    return id == NULL_U64 ? 0 : id;
}

uint64_t ShownRows_line(const struct Ui *ui)
{
    struct ShownRows shown;
    ShownRows_fill(&shown, ui);
    const void *row = ShownRows_selected(&shown);
    return row ? member_of(row, kind_of(&shown)->line) : NULL_U64;
}
