// SPDX-License-Identifier: MIT
// The tables of the flame table's schema. A new row must be the last one of its
// table, because the rows have the same order on the wire.
#include "ipc/flame_table.h"

#include "ipc/base/heap.h"
#include "ipc/rows.h"

static const struct Field ROW_FIELDS[] = {
    U64(FlameRow, parent),  U64(FlameRow, id),     F64(FlameRow, share),
    F64(FlameRow, c_share), U64(FlameRow, cpu_ns), U64(FlameRow, c_ns),
};
static const struct Record ROW_RECORD = RECORD(FlameRow, "stack", ROW_FIELDS);

static const struct Field FUNCTION_FIELDS[] = {
    U64(FlameFunction, id),      TEXT(FlameFunction, name),
    TEXT(FlameFunction, file),   U64(FlameFunction, line),
    U64(FlameFunction, address), TEXT(FlameFunction, build),
};
static const struct Record FLAME_FUNCTION_RECORD =
    RECORD(FlameFunction, "stack_function", FUNCTION_FIELDS);

static const struct Field WAIT_FIELDS[] = {
    U64(FlameWait, parent),
    TEXT(FlameWait, kind),
    F64(FlameWait, share),
    U64(FlameWait, ns),
};
static const struct Record WAIT_RECORD =
    RECORD(FlameWait, "stack_wait", WAIT_FIELDS);

static const struct Field TABLE_FIELDS[] = {
    F64(FlameTable, kept_s),
    U64(FlameTable, samples),
    LIST(FlameTable, rows, row_count, ROW_RECORD),
    LIST(FlameTable, functions, function_count, FLAME_FUNCTION_RECORD),
    LIST(FlameTable, waits, wait_count, WAIT_RECORD),
};
const struct Record FLAME_TABLE_RECORD =
    RECORD(FlameTable, "stacks", TABLE_FIELDS);

struct FlameTable *FlameTable_new(void)
{
    return Record_new(&FLAME_TABLE_RECORD);
}

void FlameTable_free(struct FlameTable *table)
{
    if (!table)
        return;
    Arena_release(&table->arena);
    Heap_free(table);
}
