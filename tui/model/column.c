// SPDX-License-Identifier: MIT
#include "tui/model/column.h"

#include <math.h>
#include <strings.h>

// enum Origin says where a column's numbers come from.
enum Origin {
    COUNTED,
    SAMPLED, // A share. The column is shown only while shares are sampled.
    LATENCY, // A time of a call, in the latency view. Idle functions come last.
    // A share in the sampler's window. The column is shown only while shares
    // are sampled. Idle functions come last.
    RECENT,
    TEXT // The column has no numbers and sorts by text, a to z.
};

#define COLUMN(id, text, origin, kind, value)                                  \
    static double key_of_##id(const struct Row *row)                           \
    {                                                                          \
        (void)row;                                                             \
        return value;                                                          \
    }
#include "tui/model/columns.def"

#define COLUMN(id, text, origin, kind, value)                                  \
    [COLUMN_##id] = {.name = text,                                             \
                     .sampled = origin == SAMPLED || origin == RECENT,         \
                     .recent = origin == RECENT || origin == LATENCY,          \
                     .latency = origin == LATENCY,                             \
                     .by_text = origin == TEXT,                                \
                     .change = kind,                                           \
                     .key = key_of_##id},
const struct Column COLUMNS[COLUMN_COUNT] = {
#include "tui/model/columns.def"
};

enum ColumnId Column_find(const char *name)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcasecmp(COLUMNS[i].name, name) == 0)
            return (enum ColumnId)i;
    return COLUMN_COUNT;
}

bool Column_is_in(enum ColumnId id, bool latency)
{
    bool both = COLUMNS[id].by_text || id == COLUMN_RATE;
    return both || COLUMNS[id].latency == latency;
}

bool Column_is_of_fleet(enum ColumnId id)
{
    return id == COLUMN_WORKER || id == COLUMN_SLOW_WORKER;
}

enum ColumnId Column_in(enum ColumnId id, bool fleet, bool sampled)
{
    if (Column_is_of_fleet(id) && !fleet)
        id = COLUMNS[id].latency ? COLUMN_WALL_P99 : COLUMN_SHARE;
    return COLUMNS[id].sampled && !sampled ? COLUMN_SELF : id;
}

double Column_change(enum ColumnId id, const struct Row *row)
{
    double before = row->mark[id], now = COLUMNS[id].key(row);
    if (isnan(before) && COLUMNS[id].change != CHANGE_CYCLES &&
        COLUMNS[id].change != CHANGE_TIME)
        before = 0;
    return now - before;
}

double Column_key(enum ColumnId id, const struct Row *row, bool baseline)
{
    return baseline && COLUMNS[id].change ? Column_change(id, row)
                                          : COLUMNS[id].key(row);
}

const char *Column_text_key(enum ColumnId id, const struct Row *row)
{
    const char *text = id == COLUMN_FILE ? row->now->file : row->now->name;
    return text ? text : "";
}
