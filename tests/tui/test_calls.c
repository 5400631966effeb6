// SPDX-License-Identifier: MIT
// Tests how calls are counted from stacks (sums, recursion, cut-off stacks),
// and the tree that the callers view makes from these calls.
#include "tui/model/calls.h"
#include "tui/model/tree.h"

#include <math.h>

#include "tests/unit.h"

enum { MAIN = 1, F, G, H };

struct Stack {
    uint64_t parent, id;
    double self;
};

static struct Calls calls;

static void count(const struct Stack *stacks, size_t size)
{
    struct FlameRow *rows = calloc(size, sizeof *rows);
    struct FlameShare *shares = calloc(size, sizeof *shares);
    struct FlameTable table = {.rows = rows, .row_count = size};
    for (size_t i = 0; i < size; i++) {
        rows[i].parent = stacks[i].parent;
        rows[i].id = stacks[i].id;
        shares[i].self = stacks[i].self;
    }
    assert_int_equal(Calls_count(&calls, &table, shares, FLAME_CPU), 0);
    free(rows);
    free(shares);
}

static void expect_function(uint64_t id, double total, double self)
{
    struct CallTotal found = Calls_of(&calls, id);
    assert_int_equal(found.id, id);
    assert_true(fabs(found.total - total) < 1e-9);
    assert_true(fabs(found.self - self) < 1e-9);
}

static void expect_call(uint64_t caller, uint64_t callee, double share)
{
    double found = 0;
    for (size_t i = 0; i < calls.count; i++)
        if (calls.calls[i].caller == caller && calls.calls[i].callee == callee)
            found += calls.calls[i].share;
    assert_true(fabs(found - share) < 1e-9);
}

static void tear_down(void)
{
    Calls_release(&calls);
}

#define COUNT(...)                                                             \
    do {                                                                       \
        static const struct Stack stacks[] = {__VA_ARGS__};                    \
        count(stacks, sizeof stacks / sizeof *stacks);                         \
    } while (0)

TEST_WITH(test_sums, NULL, tear_down)
{
    COUNT({NULL_U64, NULL_U64, .01}, {0, MAIN, .1}, {1, F, .2}, {2, H, .1},
          {1, G, 0}, {4, H, .3}, {0, H, .05});
    expect_function(MAIN, .7, .1);
    expect_function(F, .3, .2);
    expect_function(G, .3, 0);
    expect_function(H, .45, .45);
    expect_function(9, 0, 0);
    expect_call(MAIN, F, .3);
    expect_call(F, H, .1);
    expect_call(G, H, .3);
    expect_call(NULL_U64, H, .05);
    expect_call(NULL_U64, MAIN, .7);
    expect_call(MAIN, H, 0);
    assert_int_equal(calls.count, 6);
    assert_int_equal(calls.function_count, 4);
}

// Even a stack of thousands of frames is counted in a short time.
TEST_WITH(test_deep, NULL, tear_down)
{
    struct Stack *stacks = calloc(FLAME_MOST, sizeof *stacks);
    stacks[0] = (struct Stack){NULL_U64, NULL_U64, 0};
    for (uint64_t i = 1; i < FLAME_MOST; i++)
        stacks[i] = (struct Stack){i - 1, i, 1e-6};
    count(stacks, FLAME_MOST);
    assert_int_equal(calls.count, FLAME_MOST - 1);
    expect_function(1, (FLAME_MOST - 1) * 1e-6, 1e-6);
    free(stacks);
}

// A wait counts as a callee of the function that waits.
TEST_WITH(test_waits, NULL, tear_down)
{
    const struct FlameRow rows[] = {
        {.parent = NULL_U64, .id = NULL_U64},
        {.parent = 0, .id = MAIN, .share = .1},
        {.parent = 1, .id = F, .share = .2},
        {.parent = 2, .id = F, .share = .1},
    };
    const struct FlameWait waits[] = {
        {.parent = 2, .kind = "socket", .share = .3},
        {.parent = 3, .kind = "socket", .share = .1},
        {.parent = 1, .kind = "lock", .share = .2},
        {.parent = 99, .kind = NULL, .share = .5},
    };
    const struct FlameTable table = {
        .rows = rows, .row_count = 4, .waits = waits, .wait_count = 4};
    const struct FlameShare shares[8] = {
        [2] = {.self = .01}, [4] = {.self = .02}};
    assert_int_equal(Calls_count(&calls, &table, NULL, FLAME_CPU), 0);
    expect_function(MAIN, .4, .1);
    expect_function(F, .3, .3);
    expect_call(F, FLAME_WAIT_ID + WAITS_SOCKET, 0);
    assert_int_equal(Calls_count(&calls, &table, NULL, FLAME_WALL), 0);
    expect_function(MAIN, 1, .1);
    expect_function(F, .7, .3);
    expect_call(MAIN, F, .7);
    expect_call(F, FLAME_WAIT_ID + WAITS_SOCKET, .4);
    expect_call(MAIN, FLAME_WAIT_ID + WAITS_LOCK, .2);
    assert_float_equal(Calls_of(&calls, F).waits, .4, 1e-9);
    assert_int_equal(Calls_count(&calls, &table, NULL, FLAME_WAITS), 0);
    expect_function(MAIN, .6, 0);
    expect_function(F, .4, 0);
    expect_call(MAIN, F, .4);
    // In the shares of a period, the waits come after the rows.
    assert_int_equal(Calls_count(&calls, &table, shares, FLAME_WALL), 0);
    expect_function(MAIN, .03, 0);
    expect_call(F, FLAME_WAIT_ID + WAITS_SOCKET, .02);
}

TEST_WITH(test_the_tree, NULL, tear_down)
{
    struct Snapshot *snapshot = Snapshot_new();
    struct Function *functions =
        Snapshot_alloc(snapshot, 4 * sizeof *functions);
    struct Tree tree = {0};
    struct Model model;
    double parts = 0;
    // The shares in the snapshot differ from the shares in the stacks.
    for (uint64_t id = MAIN; id <= H; id++)
        functions[id - 1] = (struct Function){.id = id, .total_share = .9};
    snapshot->functions = functions;
    snapshot->function_count = 4;
    Model_init(&model);
    assert_int_equal(Model_push(&model, snapshot), 0);
    COUNT({NULL_U64, NULL_U64, 0}, {0, MAIN, .1}, {1, F, .2}, {2, H, .3},
          {2, G, .1}, {0, F, .1});
    Tree_root(&tree, F);
    assert_int_equal(Tree_build(&tree, &model, &calls), 0);
    // The tree has three headings, MAIN, the bottom of the stack, F, H and G.
    assert_int_equal(tree.count, 8);
    assert_int_equal(tree.branches[1].id, MAIN);
    assert_true(fabs(tree.branches[1].share - .6) < 1e-9);
    assert_int_equal(tree.branches[2].kind, BRANCH_BOTTOM);
    assert_true(fabs(tree.branches[2].share - .1) < 1e-9);
    assert_int_equal(tree.branches[3].kind, BRANCH_ROOT);
    assert_true(fabs(tree.branches[3].share - .7) < 1e-9);
    for (size_t i = 5; i < tree.count; i++)
        parts += tree.branches[i].part;
    assert_true(fabs(parts - 1) < 1e-9);
    assert_int_equal(tree.branches[5].kind, BRANCH_SELF);
    // the branch with the larger share comes first
    assert_int_equal(tree.branches[6].id, H);
    assert_int_equal(tree.branches[7].id, G);
    Tree_release(&tree);
    Model_release(&model);
}
