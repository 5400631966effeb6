// SPDX-License-Identifier: MIT
// A snapshot lists the callers of each function. If a snapshot lists A as a
// caller of B, B is a callee of A.
#include "tui/model/tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// Branches with a smaller share of a core are added to "others".
#define LEAST 0.0005

struct CallEdge {
    uint64_t id; // Id of the function (NULL_U64 = all other functions).
    double share;
};

struct Walk {
    struct Tree *tree;
    const struct Model *model;
    // The calls of the period. NULL if the tree is built from the snapshot's
    // call edges.
    const struct Calls *calls;
    // Ids of the functions from the root to the current function.
    uint64_t way[TREE_DEPTH + 1];
    bool caller;
    bool failed;
};

void Tree_root(struct Tree *tree, uint64_t root)
{
    tree->root = root;
    tree->open_count = 0;
    tree->count = 0;
}

void Tree_release(struct Tree *tree)
{
    free(tree->branches);
    *tree = (struct Tree){0};
}

static const struct Function *function_of(const struct Model *model,
                                          uint64_t id)
{
    const struct Row *row = Model_row_of(model, id);
    return row ? row->now : NULL;
}

static uint64_t mix(uint64_t key, uint64_t id)
{
    key = (key ^ id) * 0x9E3779B97F4A7C15u;
    return key ^ key >> 29;
}

// Adds a branch of this kind. Returns the tree's copy of it, or NULL.
static struct Branch *add(struct Walk *walk, enum BranchKind kind,
                          struct Branch branch)
{
    struct Tree *tree = walk->tree;
    if (tree->count == tree->room) {
        size_t room = tree->room ? 2 * tree->room : 64;
        struct Branch *more = NULL;
        if (room <= 2 * TREE_MOST)
            more = realloc(tree->branches, room * sizeof *more);
        if (!more) {
            walk->failed = true;
            return NULL;
        }
        tree->branches = more;
        tree->room = room;
    }
    branch.kind = kind;
    branch.caller = walk->caller;
    tree->branches[tree->count] = branch;
    return &tree->branches[tree->count++];
}

static bool is_open(const struct Tree *tree, uint64_t key)
{
    for (size_t i = 0; i < tree->open_count; i++)
        if (tree->open[i] == key)
            return true;
    return false;
}

// --- Call edges

static int compare_edges(const void *left, const void *right)
{
    const struct CallEdge *a = left, *b = right;
    int shares = (a->share < b->share) - (a->share > b->share);
    return shares ? shares : (a->id > b->id) - (a->id < b->id);
}

static bool is_shown(double share)
{
    return share >= LEAST;
}

struct CallEdges { // Edges sorted by share, largest first.
    struct CallEdge *edges;
    size_t count, room;
    bool failed;
};

static void add_edge(struct CallEdges *edges, uint64_t id, double share)
{
    if (!is_shown(share) || edges->failed)
        return;
    if (edges->count == edges->room) {
        size_t room = edges->room ? 2 * edges->room : 16;
        struct CallEdge *more = realloc(edges->edges, room * sizeof *more);
        edges->failed = !more;
        if (!more)
            return;
        edges->edges = more;
        edges->room = room;
    }
    edges->edges[edges->count++] = (struct CallEdge){id, share};
}

static void find_callers(const struct Walk *walk, uint64_t id,
                         struct CallEdges *edges)
{
    const struct Function *function = function_of(walk->model, id);
    const struct Calls *calls = walk->calls;
    for (size_t i = 0; calls && i < calls->count; i++)
        if (calls->calls[i].callee == id && calls->calls[i].caller != NULL_U64)
            add_edge(edges, calls->calls[i].caller, calls->calls[i].share);
    for (size_t i = 0; !calls && function && i < function->caller_count; i++)
        if (function->callers[i].id != NULL_U64)
            add_edge(edges, function->callers[i].id,
                     function->callers[i].share);
}

static double share_for(const struct Function *function, uint64_t caller)
{
    for (size_t i = 0; i < function->caller_count; i++)
        if (function->callers[i].id == caller)
            return function->callers[i].share;
    return NAN;
}

static void find_callees(const struct Walk *walk, uint64_t id,
                         struct CallEdges *edges)
{
    const struct Snapshot *now = walk->model->snapshot;
    const struct Calls *calls = walk->calls;
    for (size_t i = 0; calls && i < calls->count; i++)
        if (calls->calls[i].caller == id)
            add_edge(edges, calls->calls[i].callee, calls->calls[i].share);
    for (size_t i = 0; !calls && i < now->function_count; i++)
        add_edge(edges, now->functions[i].id,
                 share_for(&now->functions[i], id));
}

// Returns the call edges between the function `id` and its callers if
// walk->caller is true, otherwise those between it and its callees. The caller
// of edges_of() frees edges.edges.
static struct CallEdges edges_of(const struct Walk *walk, uint64_t id)
{
    struct CallEdges edges = {.count = 0};
    (walk->caller ? find_callers : find_callees)(walk, id, &edges);
    if (edges.count)
        qsort(edges.edges, edges.count, sizeof *edges.edges, compare_edges);
    return edges;
}

// --- Branches

static void grow(struct Walk *walk, int depth, uint64_t key, uint32_t bars);

static bool is_on_way(const struct Walk *walk, int depth, uint64_t id)
{
    for (int i = 0; i < depth; i++)
        if (walk->way[i] == id)
            return true;
    return false;
}

// Adds a function's branch. If the branch is unfolded, also adds the branches
// below it.
static void add_function(struct Walk *walk, uint64_t id, struct Branch branch)
{
    int depth = branch.depth;
    branch.id = id;
    branch.key = mix(branch.key, id);
    branch.again = is_on_way(walk, depth, id);
    branch.opens =
        function_of(walk->model, id) && !branch.again && depth < TREE_DEPTH;
    branch.open = branch.opens && is_open(walk->tree, branch.key);
    if (add(walk, BRANCH_FUNCTION, branch) && branch.open) {
        walk->way[depth] = id;
        grow(walk, depth + 1, branch.key,
             branch.last ? branch.bars : branch.bars | 1u << depth);
    }
}

static void add_rest(struct Walk *walk, enum BranchKind kind,
                     struct Branch branch)
{
    branch.key = mix(branch.key, (uint64_t)kind << 32);
    add(walk, kind, branch);
}

struct CallTotal Tree_total(const struct Function *function,
                            const struct Calls *calls)
{
    if (calls)
        return Calls_of(calls, function->id);
    double self = function->cpu_share + function->wait_share;
    return (struct CallTotal){
        .id = function->id,
        .total = function->total_share,
        .self = self > function->total_share ? function->total_share : self};
}

// The total share and its parts are estimated separately, so the sum of the
// parts may exceed the total.
static void set_share(struct Branch *branch, double share, double total)
{
    branch->share = share;
    branch->part = total > 0 ? fmin(share / total, 1) : NAN;
}

// struct Rest contains those parts of a function's share that belong to no
// listed call edge. If callees are listed, `self` is the share of the function
// itself. If callers are listed, `self` is the share of the samples in which
// the function has no caller. `others` is the sum of those call edges that are
// too small to be listed.
struct Rest {
    double self, others;
};

static struct Rest rest_of(const struct Walk *walk,
                           const struct Function *function,
                           const struct CallTotal *total, double sum)
{
    struct Rest rest = {NAN, NAN};
    double left = total->total - sum;
    if (walk->caller) {
        for (size_t i = 0; !walk->calls && i < function->caller_count; i++)
            if (function->callers[i].id == NULL_U64)
                rest.others = function->callers[i].share;
        rest.self = left - (isnan(rest.others) ? 0 : rest.others);
    } else {
        rest.self = total->self;
        rest.others = left - rest.self;
    }
    return rest;
}

// Adds all branches below the function at walk->way[depth - 1].
static void grow(struct Walk *walk, int depth, uint64_t key, uint32_t bars)
{
    uint64_t id = walk->way[depth - 1];
    const struct Function *function = function_of(walk->model, id);
    struct CallEdges edges = edges_of(walk, id);
    size_t count = edges.count;
    double sum = 0;
    if (edges.failed || !function) {
        walk->failed |= edges.failed;
        free(edges.edges);
        return;
    }
    for (size_t i = 0; i < count; i++)
        sum += edges.edges[i].share;
    struct CallTotal all = Tree_total(function, walk->calls);
    struct Rest rest = rest_of(walk, function, &all, sum);
    bool self = is_shown(rest.self), others = is_shown(rest.others);
    struct Branch branch = {.depth = depth, .key = key, .bars = bars};
    if (self && !walk->caller) {
        set_share(&branch, rest.self, all.total);
        branch.last = !count && !others;
        add_rest(walk, BRANCH_SELF, branch);
    }
    for (size_t i = 0; i < count; i++) {
        set_share(&branch, edges.edges[i].share, all.total);
        branch.last = i + 1 == count && !others && !(self && walk->caller);
        add_function(walk, edges.edges[i].id, branch);
    }
    if (others) {
        set_share(&branch, rest.others, all.total);
        branch.last = !(self && walk->caller);
        add_rest(walk, BRANCH_OTHERS, branch);
    }
    if (self && walk->caller) {
        set_share(&branch, rest.self, all.total);
        branch.last = true;
        add_rest(walk, BRANCH_BOTTOM, branch);
    }
    free(edges.edges);
}

static struct Branch *add_heading(struct Walk *walk, enum BranchKind kind)
{
    return add(walk, kind,
               (struct Branch){.share = NAN, .part = NAN, .key = 1 + kind});
}

int Tree_build(struct Tree *tree, const struct Model *model,
               const struct Calls *calls)
{
    struct Walk walk = {
        .tree = tree, .model = model, .calls = calls, .caller = true};
    const struct Function *root = function_of(model, tree->root);
    tree->count = 0;
    if (!root)
        return 0;
    walk.way[0] = tree->root;
    if (add_heading(&walk, BRANCH_CALLERS))
        grow(&walk, 1, mix(1, tree->root), 0);
    struct Branch *middle = add_heading(&walk, BRANCH_ROOT);
    if (middle) {
        middle->id = tree->root;
        middle->share = Tree_total(root, calls).total;
    }
    walk.caller = false;
    if (add_heading(&walk, BRANCH_CALLEES))
        grow(&walk, 1, mix(2, tree->root), 0);
    return walk.failed ? -ENOMEM : 0;
}

bool Tree_toggle(struct Tree *tree, const struct Branch *branch)
{
    for (size_t i = 0; i < tree->open_count; i++)
        if (tree->open[i] == branch->key) {
            tree->open[i] = tree->open[--tree->open_count];
            return true;
        }
    if (!branch->opens || tree->open_count == TREE_OPEN)
        return false;
    tree->open[tree->open_count++] = branch->key;
    return true;
}
