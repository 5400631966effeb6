// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // qsort_r
#include "tui/model/row_order.h"

#include "ipc/own_file.h"
#include "tui/model/window.h"
#include "tui/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct SortItem {
    double key;
    const char *text;
    double share;
    double recent; // Cycles per second that the function uses.
    double self;   // cycles
    uint64_t id;
    uint32_t row;
    bool idle;
};

struct SortWay {
    bool by_text;
    bool sinks; // True if idle functions come last, even in the inverted order.
    int sign;   // -1 if the order is inverted, otherwise 1.
};

static int larger_first(double a, double b)
{
    return (a < b) - (a > b);
}

// Rows with equal keys are sorted by share and cost, and finally by id. Rows
// therefore keep their order from snapshot to snapshot.
static int compare_equals(const struct SortItem *a, const struct SortItem *b)
{
    int result = a->idle - b->idle;
    if (!result)
        result = larger_first(a->share, b->share);
    if (!result)
        result = larger_first(a->recent, b->recent);
    if (!result)
        result = larger_first(a->self, b->self);
    return result ? result : (a->id > b->id) - (a->id < b->id);
}

// Rows with a null value come last, even in the inverted order.
static int compare(const void *left, const void *right, void *context)
{
    const struct SortItem *a = left, *b = right;
    const struct SortWay *way = context;
    int result = way->sinks ? a->idle - b->idle : 0;
    if (result)
        return result;
    if (way->by_text) {
        result = way->sign * strcmp(a->text, b->text);
    } else if (isnan(a->key) || isnan(b->key)) {
        result = isnan(a->key) - isnan(b->key);
    } else {
        result = way->sign * larger_first(a->key, b->key);
    }
    return result ? result : compare_equals(a, b);
}

bool RowOrder_matches(const struct Row *row, const char *text)
{
    if (row->part && isnan(row->part_share))
        return false;
    return Text_has(row->now->name, text) || Text_has(row->now->file, text);
}

// Returns the share, or 0 if it is based on fewer than WINDOW_LEAST samples.
static double seen_share(const struct Row *row, double share)
{
    return Window_basis(&row->window, share) == BASIS_NONE && share > 0 ? 0
                                                                        : share;
}

static struct SortItem item_of(const struct RowTable *table, size_t index,
                               const struct OrderRequest *request)
{
    const struct Row *row = &table->items[index];
    enum ColumnId id = request->column;
    const struct Column *column = &COLUMNS[id];
    double share = Row_share(row), self = Row_self(row);
    struct SortItem item = {
        .share = isnan(share) ? 0 : seen_share(row, share),
        .recent = Row_recent_cost(row),
        .self = isnan(self) ? 0 : self,
        .id = row->id,
        .row = (uint32_t)index,
        .idle = Row_is_idle(row),
    };
    if (column->by_text)
        item.text = Column_text_key(id, row);
    else
        item.key = Column_key(id, row, request->baseline);
    // P99 is at least P50. P50 is used if there is no P99, which happens for a
    // busy function because some of its calls were cut off.
    if (id == COLUMN_WALL_P99 && !request->baseline && isnan(item.key))
        item.key = row->now->wall_p50_s;
    // The age of a call in flight is a lower bound of its latency.
    if ((id == COLUMN_WALL_P99 || id == COLUMN_WALL_MAX) &&
        !request->baseline &&
        (Row_hangs(row) || (isnan(item.key) && Row_is_late(row))))
        item.key = fmax(item.key, row->now->oldest_s);
    if (id == COLUMN_SHARE && !request->baseline)
        item.key = seen_share(row, item.key);
    else if (id == COLUMN_SHARE && // A change below one sample counts as 0.
             Window_basis(&row->window, fabs(item.key)) <= BASIS_TRACE)
        item.key = isnan(item.key) ? NAN : 0;
    return item;
}

// Returns true if the row passes the filters.
static bool passes(const struct Row *row, const struct OrderRequest *request)
{
    return row->now && (!request->own_only || OwnFile_is(row->now->file)) &&
           RowOrder_matches(row, request->filter);
}

static size_t collect(const struct RowTable *table, struct SortItem *items,
                      const struct OrderRequest *request, size_t *hidden)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct Row *row = &table->items[i];
        if (!passes(row, request))
            continue;
        items[count] = item_of(table, i, request);
        if (request->hide_idle && items[count].idle)
            ++*hidden;
        else
            count++;
    }
    return count;
}

static size_t make_unsorted(uint32_t *order, const struct RowTable *table,
                            const struct OrderRequest *request)
{
    size_t shown = 0;
    for (size_t i = 0; i < table->count; i++)
        if (passes(&table->items[i], request))
            order[shown++] = (uint32_t)i;
    return shown;
}

size_t RowOrder_make(uint32_t *order, const struct RowTable *table,
                     const struct OrderRequest *request, size_t *hidden)
{
    struct SortItem *items = malloc((table->count + 1) * sizeof *items);
    const struct Column *column = &COLUMNS[request->column];
    struct SortWay way = {.by_text = column->by_text,
                          .sinks = column->recent,
                          .sign = request->invert ? -1 : 1};
    *hidden = 0;
    if (!items)
        return make_unsorted(order, table, request);
    size_t shown = collect(table, items, request, hidden);
    qsort_r(items, shown, sizeof *items, compare, &way);
    for (size_t i = 0; i < shown; i++)
        order[i] = items[i].row;
    free(items);
    return shown;
}
