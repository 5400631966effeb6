// SPDX-License-Identifier: MIT
// Tests the totals, the order and the paths of tui/model/flame_tree, also with
// invalid data.
#include "tests/tui/sample.h"
#include "tui/model/flame_tree.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/unit.h"

static struct FlameTable *table_of(const struct FlameRow *rows, size_t count)
{
    struct FlameTable *table = FlameTable_new();
    struct FlameRow *copy =
        Arena_alloc(&table->arena, (count + 1) * sizeof *copy);

    memcpy(copy, rows, count * sizeof *copy);
    table->rows = copy;
    table->row_count = count;
    return table;
}

static struct FlameTree tree;

static void check(void)
{
    size_t seen = 0;
    uint32_t at = 0;

    for (size_t i = 0; i < tree.count; i++) {
        const struct FlameBranch *branch = &tree.branches[i];
        double below = branch->self;

        assert_non_null(branch->name);
        assert_true(branch->depth <= FLAME_DEPTH);
        assert_true(branch->total >= 0 && isfinite(branch->total));
        for (uint32_t child = branch->child; child;
             child = tree.branches[child].sibling) {
            uint32_t next = tree.branches[child].sibling;

            assert_int_equal(tree.branches[child].parent, i);
            below += tree.branches[child].total;
            if (next)
                assert_true(strcmp(tree.branches[child].name,
                                   tree.branches[next].name) <= 0);
        }
        assert_true(fabs(below - branch->total) < 1e-9);
    }
    // A walk forwards visits each branch once. A step backwards leads to the
    // branch before. As it looks at all earlier siblings, only some are taken.
    do {
        uint32_t next = FlameTree_next(&tree, at, 1);

        if (!next || seen < 1000)
            assert_int_equal(FlameTree_next(&tree, next, -1), at);
        at = next;
        seen++;
    } while (at && seen <= tree.count);
    assert_int_equal(seen, tree.count);
}

// Makes the tree of a table, and checks that the tree is consistent.
static void take(struct FlameTable *table)
{
    assert_int_equal(FlameTree_take(&tree, table), 0);
    check();
}

static void set_up(void)
{
    tree = (struct FlameTree){0};
}

static void release(void)
{
    FlameTree_release(&tree);
}

TEST_WITH(test_sample, set_up, release)
{
    struct FlamePath path;

    take(Sample_stacks((struct SampleSpec){.tick = 3}));
    for (uint32_t i = 0; i < tree.count; i++) {
        FlameTree_path(&tree, i, &path);
        assert_int_equal(FlameTree_find(&tree, &path), i);
        assert_true(FlameTree_is_below(&tree, i, 0));
        assert_true(FlameTree_is_below(&tree, i, i));
        assert_true(!i || !FlameTree_is_below(&tree, 0, i));
    }
    assert_string_equal(tree.branches[FlameTree_hottest(&tree, 0)].name,
                        "<module>");
    // If a path does not exist any more, FlameTree_find returns the branch of
    // the longest part of the path that exists.
    path = (struct FlamePath){{12, 2, 4711, 3}, 4};
    assert_string_equal(tree.branches[FlameTree_find(&tree, &path)].name,
                        "Plan.execute");
    // A new table replaces the old one.
    take(Sample_stacks((struct SampleSpec){.tick = 4}));
    FlameTree_release(&tree);
}

static bool has(const char *name)
{
    bool found = false;

    for (size_t i = 0; i < tree.count; i++)
        found |= strcmp(tree.branches[i].name, name) == 0;
    return found;
}

// Builds the tree in a mode, and returns the share of all its branches.
static double total_in(enum FlameMode mode, bool idle)
{
    tree.mode = mode;
    tree.idle = idle;
    assert_int_equal(FlameTree_weigh(&tree, NULL), 0);
    check();
    return tree.branches[0].total;
}

TEST_WITH(test_modes, set_up, release)
{
    double cpu, waits = 0, idle = 0;

    take(Sample_stacks((struct SampleSpec){.tick = 3}));
    for (size_t i = 0; i < tree.table->wait_count; i++) {
        const struct FlameWait *wait = &tree.table->waits[i];

        *(WaitKind_of(wait->kind) == WAITS_IDLE ? &idle : &waits) +=
            wait->share;
    }
    cpu = total_in(FLAME_CPU, true);
    assert_false(has("(lock)"));
    assert_float_equal(total_in(FLAME_WAITS, false), waits, 1e-9);
    assert_float_equal(tree.rest, idle, 1e-9);
    assert_true(has("(lock)") && has("(waiting)"));
    assert_false(has("(idle)"));
    // Only functions that wait, and their callers, are left.
    assert_true(has("Plan.execute"));
    for (size_t i = 1; i < tree.count; i++)
        assert_true(tree.branches[i].total > 0);
    assert_float_equal(total_in(FLAME_WAITS, true), waits + idle, 1e-9);
    assert_true(tree.rest == 0);
    assert_float_equal(total_in(FLAME_WALL, false), cpu + waits, 1e-9);
    // Other tables keep the mode.
    FlameTree_release(&tree);
    take(Sample_stacks((struct SampleSpec){.tick = 3}));
    assert_float_equal(tree.branches[0].total, cpu + waits, 1e-9);
}

// A wait of a row that does not exist counts as a wait of the root.
TEST_WITH(test_odd_waits, set_up, release)
{
    struct FlameTable *table = Sample_stacks((struct SampleSpec){.tick = 3});
    struct FlameWait *wait = (struct FlameWait *)(uintptr_t)&table->waits[1];
    uint32_t at;

    tree.mode = FLAME_WALL;
    wait->kind = "a kind of a newer process";
    wait->share = -1;
    take(table);
    FlameTree_release(&tree);
    table = Sample_stacks((struct SampleSpec){.tick = 3});
    wait = (struct FlameWait *)(uintptr_t)&table->waits[1];
    wait->parent = table->row_count;
    take(table);
    at = tree.branches[0].child;
    while (strcmp(tree.branches[at].name, "(socket)") != 0)
        assert_int_not_equal(at = tree.branches[at].sibling, 0);
}

TEST_WITH(test_odd_shares, set_up, release)
{
    static const struct FlameRow rows[] = {{NULL_U64, NULL_U64, NAN, NAN, 0, 0},
                                           {0, 1, -5, 1, 0, 0},
                                           // The same function appears twice in
                                           // the table.
                                           {0, 1, INFINITY, 0, 0, 0},
                                           {1, 0, 0.5, NAN, 0, 0}};

    take(table_of(rows, 4));
    assert_true(tree.branches[0].total == 0.5);
}

// A process must not send a C function as the root.
TEST_WITH(test_root_with_an_id, set_up, release)
{
    static const struct FlameRow rows[] = {
        {NULL_U64, FLAME_NATIVE_ID + 1, 1, 0, 5, 0}};
    struct FlameTable *table = table_of(rows, 1);

    tree.hides = true;
    assert_int_equal(FlameTree_take(&tree, table), -EPROTO);
    assert_null(tree.branches);
}

// This table is deeper and larger than any real table.
TEST_WITH(test_too_much, set_up, release)
{
    size_t count = FLAME_MOST + 1000;
    struct FlameRow *rows = calloc(count, sizeof *rows);

    for (size_t i = 0; i < count; i++)
        rows[i] = (struct FlameRow){
            i ? i - 1 : NULL_U64, i ? i : NULL_U64, 1e-6, 0, 0, 0};
    take(table_of(rows, count));
    assert_int_equal(tree.count, FLAME_DEPTH + 1);
    assert_true(fabs(tree.branches[0].total - FLAME_MOST * 1e-6) < 1e-9);
    check();
    for (size_t i = 1; i < count; i++)
        rows[i].parent = 0;
    take(table_of(rows, count));
    assert_int_equal(tree.count, FLAME_MOST);
    free(rows);
}
