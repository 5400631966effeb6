// SPDX-License-Identifier: MIT
// Tests the tree of callers and callees around a function. Shares add up,
// recursion ends, and branches that were unfolded stay unfolded in the next
// snapshot.
#include "tui/model/tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit.h"

// The callers of a function, with their shares in per cent. edges[i] belongs to
// the function with the id i + 1.
struct CallEdges {
    struct {
        uint64_t id; // id of the caller; 0 ends the list
        int share;
    } callers[4];
    int total, self;
};

static struct Tree tree;
static struct Model model;

static void push(const struct CallEdges *edges, size_t count)
{
    struct Snapshot *snapshot = Snapshot_new();
    struct Function *functions =
        Snapshot_alloc(snapshot, count * sizeof *functions);
    for (size_t i = 0; i < count; i++) {
        struct Caller *callers = Snapshot_alloc(snapshot, 4 * sizeof *callers);
        size_t n = 0;
        for (; n < 4 && edges[i].callers[n].id; n++)
            callers[n] = (struct Caller){edges[i].callers[n].id,
                                         edges[i].callers[n].share / 100.0};
        functions[i].id = i + 1;
        functions[i].total_share = edges[i].total / 100.0;
        functions[i].cpu_share = functions[i].share = edges[i].self / 100.0;
        functions[i].callers = callers;
        functions[i].caller_count = n;
    }
    snapshot->functions = functions;
    snapshot->function_count = count;
    assert_int_equal(Model_push(&model, snapshot), 0);
}

// Compares the tree with a text such as "C .2:30 1:50 D .self:20 .4:30", which
// has the callers, then the function in the middle, and then the callees.
static void expect(const char *expected)
{
    static const char *const words[] = {"C",    "",       "D",     "",
                                        "self", "bottom", "others"};
    char text[2000] = "";
    assert_int_equal(Tree_build(&tree, &model, NULL), 0);
    for (size_t i = 0; i < tree.count; i++) {
        const struct Branch *branch = &tree.branches[i];
        size_t used = strlen(text);
        char name[24];
        snprintf(name, sizeof name, "%s", words[branch->kind]);
        if (branch->id)
            snprintf(name, sizeof name, "%d", (int)branch->id);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%.*s%s",
                             i ? " " : "", branch->depth, "..........", name);
        if (isfinite(branch->share))
            used += (size_t)snprintf(text + used, sizeof text - used, ":%.0f",
                                     branch->share * 100);
        snprintf(text + used, sizeof text - used, "%s%s",
                 branch->again ? "*" : "", branch->open ? "-" : "");
    }
    assert_string_equal(text, expected);
}

static const struct Branch *branch_of(uint64_t id)
{
    for (size_t i = 0; i < tree.count; i++)
        if (tree.branches[i].id == id &&
            tree.branches[i].kind == BRANCH_FUNCTION)
            return &tree.branches[i];
    fail_msg("no branch of %d", (int)id);
    return NULL;
}

static void set_up(void)
{
    tree = (struct Tree){0};
    Model_init(&model);
}

static void tear_down(void)
{
    Tree_release(&tree);
    Model_release(&model);
}

// Function 1 calls 2 and 3. Functions 2 and 3 call 4.
static const struct CallEdges diamond[] = {
    {{{0}}, 100, 10},
    {{{1, 40}}, 40, 5},
    {{{1, 50}}, 50, 20},
    {{{2, 35}, {3, 30}, {UINT64_MAX, 5}}, 75, 75},
};

TEST_WITH(test_parts_are_of_what_they_hang_on, set_up, tear_down)
{
    push(diamond, 4);
    double sum = 0;
    Tree_root(&tree, 1);
    Tree_build(&tree, &model, NULL);
    for (size_t i = 0; i < tree.count; i++)
        if (!tree.branches[i].caller && isfinite(tree.branches[i].part))
            sum += tree.branches[i].part;
    assert_true(fabs(sum - 1) < 1e-9);
    assert_true(Tree_toggle(&tree, branch_of(3)));
    Tree_build(&tree, &model, NULL);
    // Function 4 takes 30 of the 50 per cent of function 3.
    assert_true(fabs(branch_of(4)->part - 0.6) < 1e-9);
}

// A branch never exceeds the total, although both are separate estimates.
TEST_WITH(test_no_part_is_more_than_the_whole, set_up, tear_down)
{
    static const struct CallEdges noisy[] = {
        {{{2, 13}}, 10, 12},
        {{{0}}, 12, 0},
    };
    push(noisy, 2);
    Tree_root(&tree, 1);
    expect("C .2:13 1:10 D .self:10");
    for (size_t i = 0; i < tree.count; i++)
        assert_false(tree.branches[i].part > 1);
    assert_true(branch_of(2)->part == 1);
    Tree_root(&tree, 2);
    expect("C .bottom:12 2:12 D .1:13");
    assert_true(branch_of(1)->part == 1);
}

TEST_WITH(test_recursion_ends, set_up, tear_down)
{
    static const struct CallEdges circle[] = {
        {{{2, 50}, {1, 20}}, 60, 5},
        {{{1, 50}}, 55, 5},
    };
    push(circle, 2);
    Tree_root(&tree, 1);
    Tree_build(&tree, &model, NULL);
    assert_true(Tree_toggle(&tree, branch_of(2)));
    expect("C .2:50- ..1:50* ..bottom:5 .1:20* 1:60 D .self:5 .2:50 .1:20*");
    for (size_t i = 0; i < tree.count; i++)
        assert_false(tree.branches[i].again && tree.branches[i].opens);
}

TEST_WITH(test_no_more_than_there_is_room_for, set_up, tear_down)
{
    struct Branch branch = {.opens = true};
    for (uint64_t i = 0; i < TREE_OPEN; i++) {
        branch.key = 100 + i;
        assert_true(Tree_toggle(&tree, &branch));
    }
    branch.key = 5000;
    assert_false(Tree_toggle(&tree, &branch));
    branch.key = 100;
    assert_true(Tree_toggle(&tree, &branch)); // This folds the branch.
    branch.key = 5000;
    assert_true(Tree_toggle(&tree, &branch));
}
