// SPDX-License-Identifier: MIT
#include "tui/views/shown_rows.h"

#include "tui/views/header.h"
#include "tui/views/navigation.h"

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
    const struct Ui *ui = shown->ui;
    long row = List_selected(&ui->lists[ui->view], &shown->list);
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
    Header_draw(&ui->canvas, &ui->model, status);
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
