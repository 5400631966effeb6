// SPDX-License-Identifier: MIT
// See table.h.
#include "tui/views/table.h"

#include "tui/views/table_change.h"

void Table_write(struct TableText *out, enum ColumnId id, const struct Row *row,
                 const struct Display *display)
{
    if (display->baseline && COLUMNS[id].change)
        TableChange_write(out, id, row, display);
    else
        TABLE[id].format(
            out, &(struct TableCell){row, COLUMNS[id].key(row), display});
}

void Table_layout(struct Layout *layout, int width, int height,
                  struct TableWish wish)
{
    struct LayoutSpace spaces[COLUMN_COUNT];
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct TableColumn *column = &TABLE[i];
        bool there = wish.sampled || !COLUMNS[i].sampled;
        spaces[i] = (struct LayoutSpace){there ? column->width : 0,
                                         column->importance, column->room};
    }
    Layout_make(layout, width, height,
                (struct LayoutWish){.bare = wish.bare,
                                    .columns = spaces,
                                    .column_count = COLUMN_COUNT,
                                    .first = (int)wish.sort,
                                    .name = COLUMN_FUNCTION,
                                    .place = COLUMN_FILE});
}
