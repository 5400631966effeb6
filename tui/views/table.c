// SPDX-License-Identifier: MIT
// See table.h.
#include "tui/views/table.h"

#include "tui/views/display.h"
#include "tui/views/table_cell.h"
#include "tui/views/table_change.h"

const struct TableColumn TABLE[COLUMN_COUNT] = {
    [COLUMN_SHARE] =
        {.title = "SHARE",
         .about = "share of one core spent running in it, over the window",
         .width = 6,
         .importance = 1,
         .room = 16,
         .format = TableCell_share},
    [COLUMN_TREND] =
        {.title = "TREND",
         .about = "its share over the last snapshots; sorts by the rise",
         .width = TREND_CELLS,
         .importance = 5,
         .room = 24,
         .left = true,
         .format = TableCell_trend},
    [COLUMN_TOTAL_SHARE] = {.title = "TOTAL%",
                            .about = "share with the functions it called",
                            .width = 6,
                            .importance = 15,
                            .room = 48,
                            .format = TableCell_total_share},
    [COLUMN_C_SHARE] = {.title = "IN C",
                        .about = "share spent in C code it called",
                        .width = 6,
                        .importance = 14,
                        .room = 48,
                        .format = TableCell_c_share},
    [COLUMN_WAIT_SHARE] = {.title = "WAIT",
                           .about = "share of time in it but off the CPU",
                           .width = 6,
                           .importance = 13,
                           .room = 48,
                           .format = TableCell_wait_share},
    [COLUMN_RATE] = {.title = "CALLS/s",
                     .about = "calls a second (~ estimated: dark lately)",
                     .width = 7,
                     .importance = 3,
                     .room = 18,
                     .format = TableCell_rate},
    [COLUMN_CALLS] =
        {.title = "CALLS",
         .about = "calls (~ estimated, >= at least: it was dark for a time)",
         .width = 7,
         .importance = 8,
         .room = 26,
         .format = TableCell_calls},
    [COLUMN_AVG] = {.title = "AVG cyc",
                    .time_title = "AVG",
                    .about = "mean self time of a call",
                    .width = 7,
                    .importance = 4,
                    .room = 20,
                    .format = TableCell_avg},
    [COLUMN_MIN] = {.title = "MIN",
                    .about = "least self time of a call",
                    .width = 6,
                    .importance = 18,
                    .room = 48,
                    .format = TableCell_min},
    [COLUMN_P50] = {.title = "P50",
                    .about = "half of the calls took less self time",
                    .width = 6,
                    .importance = 10,
                    .room = 28,
                    .format = TableCell_p50},
    [COLUMN_P99] = {.title = "P99",
                    .about = "99 of 100 calls took less self time",
                    .width = 6,
                    .importance = 9,
                    .room = 26,
                    .format = TableCell_p99},
    [COLUMN_SELF] = {.title = "SELF cyc",
                     .time_title = "SELF",
                     .about = "time in it, without the functions it called",
                     .width = 8,
                     .importance = 6,
                     .room = 26,
                     .format = TableCell_self},
    [COLUMN_TOTAL] = {.title = "TOTAL",
                      .about = "time in it, with the functions it called",
                      .width = 7,
                      .importance = 12,
                      .room = 46,
                      .format = TableCell_total},
    [COLUMN_WAITED] = {.title = "WAITED",
                       .about = "time in it while another thread ran",
                       .width = 7,
                       .importance = 17,
                       .room = 48,
                       .format = TableCell_waited},
    [COLUMN_STATE] = {.title = "STATE",
                      .about =
                          "armed, partial or dark, and the age of its data",
                      .width = 7,
                      .importance = 2,
                      .room = 18,
                      .left = true,
                      .format = TableCell_state},
    [COLUMN_SITES] = {.title = "SITES",
                      .about = "armed sites of all its sites",
                      .width = 9,
                      .importance = 16,
                      .room = 48,
                      .format = TableCell_sites},
    [COLUMN_SPEC] =
        {.title = "SPEC ",
         .about = "instructions CPython has specialised (! loses them now)",
         .width = 5,
         .importance = 11,
         .room = 28,
         .format = TableCell_spec},
    [COLUMN_FUNCTION] = {.title = "FUNCTION",
                         .about = "qualified name",
                         .width = 20,
                         .importance = 0,
                         .room = 0,
                         .left = true,
                         .cut = CUT_START,
                         .format = TableCell_function},
    [COLUMN_FILE] = {.title = "FILE:LINE",
                     .about = "where it is defined",
                     .width = 20,
                     .importance = 7,
                     .room = 22,
                     .left = true,
                     .cut = CUT_START,
                     .format = TableCell_file},
};

void Table_write(struct TableText *out, enum ColumnId id, const struct Row *row,
                 const struct Display *display)
{
    if (display->baseline && COLUMNS[id].change)
        TableChange_write(out, id, row, display);
    else
        TABLE[id].format(out, row, display);
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
                                    .name = COLUMN_FUNCTION,
                                    .place = COLUMN_FILE});
}
