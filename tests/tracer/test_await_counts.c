// SPDX-License-Identifier: MIT
// Tests how suspended calls are counted by what they await.
#include "tests/unit.h"
#include "tracer/session/await_counts.h"

#include <math.h>
#include <string.h>

static const struct TaskLine HANDLER = {"handler", "/app.py", 3, 7, false};
static const struct TaskLine HELPER = {"helper", "/app.py", 9, 8, false};

// Returns the function's row in the table, or NULL.
static const struct AwaitRow *row_of(const struct TaskTable *table,
                                     uint64_t function)
{
    for (size_t i = 0; i < table->await_count; i++)
        if (table->awaits[i].id == function)
            return &table->awaits[i];
    return NULL;
}

// The numbers are means over the newest walks over all tasks. If a walk has to
// begin again, nothing is counted. A function without suspended calls is
// forgotten.
TEST(the_newest_walks_weigh_most)
{
    struct AwaitCounts counts = {.all = NULL};
    struct TaskTable table = {.total = 0};
    struct AwaitCount *chain[1];
    double at_s = 1000;

    for (int i = 0; i < 400; i++, at_s += 0.25) {
        AwaitCounts_begin(&counts);
        chain[0] = AwaitCounts_find(&counts, &HELPER);
        AwaitCounts_add(&counts, chain, 1, AWAITS_OTHER);
        AwaitCounts_begin(&counts);
        chain[0] = AwaitCounts_find(&counts, &HANDLER);
        for (int j = 0; j < 4 * (i % 2); j++)
            AwaitCounts_add(&counts, chain, 1, AWAITS_SLEEP);
        AwaitCounts_end(&counts, at_s);
    }
    AwaitCounts_fill(&counts, &table);
    assert_null(row_of(&table, 8));
    assert_true(fabs(row_of(&table, 7)->of[AWAITS_SLEEP] - 2) < 0.1);
    Arena_release(&table.arena);
    memset(&table, 0, sizeof table);
    AwaitCounts_begin(&counts);
    AwaitCounts_end(&counts, at_s + 1000);
    AwaitCounts_fill(&counts, &table);
    assert_int_equal(table.await_count, 0);
    Arena_release(&table.arena);
    AwaitCounts_release(&counts);
}

TEST(names_say_what_a_function_awaits)
{
    static const char asyncio[] = "/x/asyncio/tasks.py";
    static const char anyio[] = "/x/anyio/_backends/_asyncio.py";

    assert_int_equal(AwaitKind_of(asyncio, "sleep"), AWAITS_SLEEP);
    assert_int_equal(AwaitKind_of(asyncio, "sleeps"), AWAIT_UNKNOWN);
    assert_int_equal(AwaitKind_of("/xasyncio/tasks.py", "sleep"),
                     AWAIT_UNKNOWN);
    assert_int_equal(AwaitKind_of("/x/asyncio/locks.py", "Lock.acquire"),
                     AWAITS_LOCK);
    assert_int_equal(AwaitKind_of(anyio, "SocketStream.receive"),
                     AWAITS_SOCKET);
    // This function awaits the program's own code, so the kind is unknown.
    assert_int_equal(AwaitKind_of(anyio, "TaskGroup._run_wrapped_task"),
                     AWAIT_UNKNOWN);
    assert_int_equal(AwaitKind_of(NULL, "sleep"), AWAIT_UNKNOWN);
}
