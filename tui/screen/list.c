// SPDX-License-Identifier: MIT
// See list.h.
#include "tui/screen/list.h"

#include "tui/screen/keymap.h"

static long clamp(long value, long least, long most)
{
    if (value > most)
        value = most;
    return value < least ? least : value;
}

void List_fit(struct List *list, long count, long height)
{
    list->count = count;
    list->height = height > 1 ? height : 1;
    list->selected = clamp(list->selected, 0, count - 1);
    list->top =
        clamp(list->top, list->selected - list->height + 1, list->selected);
    list->top = clamp(list->top, 0, count - list->height);
}

void List_select(struct List *list, long index)
{
    list->selected = clamp(index, 0, list->count - 1);
}

bool List_move(struct List *list, int request)
{
    long page = list->height > 1 ? list->height - 1 : 1;
    switch (request) {
    case REQUEST_UP:
        List_select(list, list->selected - 1);
        return true;
    case REQUEST_DOWN:
        List_select(list, list->selected + 1);
        return true;
    case REQUEST_PAGE_UP:
        List_select(list, list->selected - page);
        return true;
    case REQUEST_PAGE_DOWN:
        List_select(list, list->selected + page);
        return true;
    case REQUEST_HOME:
        List_select(list, 0);
        return true;
    case REQUEST_SCROLL_UP:
        List_select(list, list->selected - LIST_SCROLL);
        return true;
    case REQUEST_SCROLL_DOWN:
        List_select(list, list->selected + LIST_SCROLL);
        return true;
    case REQUEST_END:
        List_select(list, list->count - 1);
        return true;
    default:
        return false;
    }
}

long List_at(const struct List *list, int line)
{
    long index = list->top + line;
    return line >= 0 && line < list->height && index < list->count ? index : -1;
}
