// SPDX-License-Identifier: MIT
#include "tracer/session/hot_path.h"
#include "tracer/session/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_ROWS 12 // Instructions that are shown.
// Largest width of the column that has opcodes. An opcode with a longer name
// makes its line longer.
#define MAX_OPCODES 41

static struct Figure figure_hits(const struct ListingDetailRow *row)
{
    struct Figure nothing = {""};

    if (!row->hits && !row->exact)
        return nothing;
    return Figure_number(row->exact ? "" : ">=", (double)row->hits);
}

static void opcode_text(char *text, size_t size,
                        const struct ListingDetailRow *row,
                        const struct Opcodes *opcodes)
{
    const char *base = opcodes->name[row->opcode];

    if (row->jitted)
        snprintf(text, size, "%s -> " OPCODE_EXECUTOR_TEXT, base);
    else if (row->live != row->opcode)
        snprintf(text, size, "%s -> %s", base, opcodes->name[row->live]);
    else
        snprintf(text, size, "%s", *base ? base : "?");
}

static double weight(const struct ListingDetailRow *row)
{
    return (double)row->hits * (isnan(row->cycles) ? 1 : row->cycles + 1);
}

// Finds the sequence of at most PATH_ROWS instructions that took most time.
// Stores the index of the sequence's first row in *from. Returns the number of
// rows of the sequence.
static size_t hottest_path(const struct ListingDetail *detail, size_t *from)
{
    double sum = 0, most = -1;
    size_t i, end = 0;

    for (i = 0; i < detail->row_count; i++) {
        sum += weight(&detail->rows[i]);
        if (i >= PATH_ROWS)
            sum -= weight(&detail->rows[i - PATH_ROWS]);
        if (sum > most * (1 + 1e-9)) {
            most = sum;
            end = i + 1;
        }
    }
    *from = end > PATH_ROWS ? end - PATH_ROWS : 0;
    while (*from < end && weight(&detail->rows[*from]) <= 0)
        ++*from;
    return end - *from;
}

static void widen(int *width, int size)
{
    if (*width < size)
        *width = size;
}

void HotPath_measure(struct HotPathWidths *widths,
                     const struct ListingDetail *detail,
                     const struct Opcodes *opcodes)
{
    size_t from, count = hottest_path(detail, &from), i;
    char text[128];

    for (i = from; i < from + count; i++) {
        const struct ListingDetailRow *row = &detail->rows[i];
        int size;

        widen(&widths->offset, snprintf(NULL, 0, "%u", row->offset));
        widen(&widths->line, snprintf(NULL, 0, "%u", row->line));
        opcode_text(text, sizeof text, row, opcodes);
        size = (int)strlen(text);
        widen(&widths->opcodes, size < MAX_OPCODES ? size : MAX_OPCODES);
        widen(&widths->hits, (int)strlen(figure_hits(row).text));
        widen(&widths->cycles, (int)strlen(Figure_cycles(row->cycles).text));
    }
}

static void put_row(struct Bytes *out, size_t index,
                    const struct ListingDetailRow *row,
                    const struct Opcodes *opcodes,
                    const struct HotPathWidths *widths)
{
    struct Figure hits = figure_hits(row), cycles = Figure_cycles(row->cycles);
    char text[128], line[16] = "", tail[160];
    int size;

    if (row->line)
        snprintf(line, sizeof line, "%u", row->line);
    opcode_text(text, sizeof text, row, opcodes);
    size = snprintf(tail, sizeof tail, "%*s %s  %*s %s  %s", widths->hits,
                    hits.text, *hits.text ? "hits" : "    ", widths->cycles,
                    cycles.text, *cycles.text ? "cycles" : "      ",
                    row->dark ? "dark" : "");
    while (size && tail[size - 1] == ' ')
        tail[--size] = 0;
    Figure_print(out, "    [%03zu] offset %-*u  line %-*s  ", index,
                 widths->offset, row->offset, widths->line, line);
    if (size)
        Figure_print(out, "%-*s  %s\n", widths->opcodes, text, tail);
    else
        Figure_print(out, "%s\n", text);
}

void HotPath_write(struct Bytes *out, const struct ListingDetail *detail,
                   const struct Opcodes *opcodes,
                   const struct HotPathWidths *widths)
{
    size_t from, count = hottest_path(detail, &from), i;

    for (i = 0; i < count; i++)
        put_row(out, i, &detail->rows[from + i], opcodes, widths);
}
