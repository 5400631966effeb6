// SPDX-License-Identifier: MIT
// How each column of the main table writes a function's cell: the numbers since
// the reset, with the marks of the help. The change since the baseline is
// table_change.c's. Pure functions, any thread.
#ifndef OCULAR_TUI_VIEWS_TABLE_CELL_H
#define OCULAR_TUI_VIEWS_TABLE_CELL_H

#include "tui/model/row.h"
#include "tui/views/table_text.h"

#define TREND_CELLS 8 // cells of the curve in TREND

void TableCell_share(struct TableText *out, const struct Row *row,
                     const struct Display *display);
void TableCell_trend(struct TableText *out, const struct Row *row,
                     const struct Display *display);
void TableCell_total_share(struct TableText *out, const struct Row *row,
                           const struct Display *display);
void TableCell_c_share(struct TableText *out, const struct Row *row,
                       const struct Display *display);
void TableCell_wait_share(struct TableText *out, const struct Row *row,
                          const struct Display *display);
void TableCell_rate(struct TableText *out, const struct Row *row,
                    const struct Display *display);
void TableCell_calls(struct TableText *out, const struct Row *row,
                     const struct Display *display);
void TableCell_avg(struct TableText *out, const struct Row *row,
                   const struct Display *display);
void TableCell_min(struct TableText *out, const struct Row *row,
                   const struct Display *display);
void TableCell_p50(struct TableText *out, const struct Row *row,
                   const struct Display *display);
void TableCell_p99(struct TableText *out, const struct Row *row,
                   const struct Display *display);
void TableCell_self(struct TableText *out, const struct Row *row,
                    const struct Display *display);
void TableCell_total(struct TableText *out, const struct Row *row,
                     const struct Display *display);
void TableCell_waited(struct TableText *out, const struct Row *row,
                      const struct Display *display);
void TableCell_state(struct TableText *out, const struct Row *row,
                     const struct Display *display);
void TableCell_sites(struct TableText *out, const struct Row *row,
                     const struct Display *display);
void TableCell_spec(struct TableText *out, const struct Row *row,
                    const struct Display *display);
void TableCell_function(struct TableText *out, const struct Row *row,
                        const struct Display *display);
void TableCell_file(struct TableText *out, const struct Row *row,
                    const struct Display *display);

#endif
