// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // qsort_r
#include "tui/model/flame_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double share_of(double share)
{
    return share > 0 && isfinite(share) ? share : 0;
}

static int compare_id(const void *id, const void *function)
{
    uint64_t a = *(const uint64_t *)id;
    uint64_t b = ((const struct FlameFunction *)function)->id;
    return (a > b) - (a < b);
}

// Returns the function with this id, or NULL if the table does not have the
// function.
static const struct FlameFunction *function_of(const struct FlameTable *table,
                                               uint64_t id)
{
    return table->function_count
               ? bsearch(&id, table->functions, table->function_count,
                         sizeof *table->functions, compare_id)
               : NULL;
}

size_t FlameTree_rows(const struct FlameTable *table)
{
    return table->row_count < FLAME_MOST ? table->row_count : FLAME_MOST;
}

size_t FlameTree_waits(const struct FlameTable *table)
{
    return table->wait_count < FLAME_MOST ? table->wait_count : FLAME_MOST;
}

size_t FlameTree_row_of(const struct FlameTable *table,
                        const struct FlameWait *wait)
{
    return wait->parent < FlameTree_rows(table) ? (size_t)wait->parent : 0;
}

static void name_branch(const struct FlameTable *table,
                        struct FlameBranch *branch)
{
    const struct FlameFunction *function =
        branch->id == NULL_U64 ? NULL : function_of(table, branch->id);
    branch->line = NULL_U64;
    if (function && function->name) {
        branch->name = function->name;
        branch->file = function->file;
        branch->line = function->line;
    } else {
        branch->name =
            branch->id == NULL_U64 ? "(deeper than is read)" : "(gone)";
    }
}

// Makes a branch from the row with the index `i`, and sets *place to the index
// of the branch.
static void add_branch(struct FlameTree *tree, const uint32_t *places, size_t i,
                       const struct FlameShare *shares, uint32_t *place)
{
    const struct FlameRow *row = &tree->table->rows[i];
    struct FlameShare own = {row->share, row->c_share};
    const struct FlameShare *share = shares ? &shares[i] : &own;
    struct FlameBranch *branch = &tree->branches[tree->count];
    *branch = (struct FlameBranch){.id = row->id};
    if (tree->mode != FLAME_WAITS) {
        branch->self = share_of(share->self);
        branch->in_c = share_of(share->in_c);
    }
    if (i) {
        branch->parent = places[row->parent];
        branch->depth = tree->branches[branch->parent].depth + 1;
    }
    // If a branch is hidden or too deep in the tree, its share is added to its
    // caller.
    if (branch->depth > FLAME_DEPTH ||
        (i && tree->hides && FlameNative_is(row->id))) {
        tree->branches[branch->parent].self += branch->self;
        tree->branches[branch->parent].in_c += branch->in_c;
        *place = branch->parent;
        return;
    }
    name_branch(tree->table, branch);
    *place = (uint32_t)tree->count++;
}

static bool has_branch(const struct FlameTree *tree,
                       const struct FlameWait *wait)
{
    return tree->mode != FLAME_CPU && (share_of(wait->share) || wait->ns) &&
           (tree->idle || WaitKind_of(wait->kind) != WAITS_IDLE);
}

bool FlameTree_has_natives(const struct FlameTree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        if (FlameNative_is(tree->branches[i].id) && tree->branches[i].total > 0)
            return true;
    return false;
}

const char *FlameTree_wait_name(unsigned kind)
{
    static const char *const names[] = {
        "(socket)", "(file)", "(lock)",       "(sleep)",  "(GIL)",
        "(no CPU)", "(idle)", "(other wait)", "(waiting)"};
    return names[kind < WAIT_UNKNOWN ? kind : WAIT_UNKNOWN];
}

static void add_wait(struct FlameTree *tree, uint32_t parent,
                     const struct FlameWait *wait, double share)
{
    struct FlameBranch *branch = &tree->branches[tree->count];
    unsigned kind = WaitKind_of(wait->kind);
    if (kind == WAITS_IDLE && !tree->idle)
        tree->rest += share_of(share);
    if (!has_branch(tree, wait))
        return;
    if (tree->branches[parent].depth == FLAME_DEPTH) {
        tree->branches[parent].self += share_of(share);
        return;
    }
    *branch = (struct FlameBranch){.id = FLAME_WAIT_ID + kind,
                                   .name = FlameTree_wait_name(kind),
                                   .line = NULL_U64,
                                   .self = share_of(share),
                                   .parent = parent,
                                   .depth = tree->branches[parent].depth + 1};
    tree->count++;
}

// Sets `lives` for each row that gets a branch. A row gets a branch if it has
// time in the tree's mode, or if a row below it has. Returns false if the table
// is invalid.
static bool find_living(const struct FlameTree *tree, bool *lives)
{
    const struct FlameTable *table = tree->table;
    size_t rows = FlameTree_rows(table);
    for (size_t i = 0; i < FlameTree_waits(table); i++) {
        const struct FlameWait *wait = &table->waits[i];
        lives[FlameTree_row_of(table, wait)] |= has_branch(tree, wait);
    }
    for (size_t i = rows; i-- > 0;) {
        const struct FlameRow *row = &table->rows[i];
        if (i ? row->parent >= i
              : row->parent != NULL_U64 || row->id != NULL_U64)
            return false;
        lives[i] |= tree->mode != FLAME_WAITS &&
                    (share_of(row->share) > 0 || row->cpu_ns > 0);
        if (i)
            lives[row->parent] |= lives[i];
    }
    lives[0] = true;
    return true;
}

// --- Order

static int compare(const void *left, const void *right, void *branches)
{
    const struct FlameBranch *all = branches;
    const struct FlameBranch *a = &all[*(const uint32_t *)left];
    const struct FlameBranch *b = &all[*(const uint32_t *)right];
    int result = (a->parent > b->parent) - (a->parent < b->parent);
    if (!result)
        result = strcmp(a->name, b->name);
    return result ? result : (a->id > b->id) - (a->id < b->id);
}

static void link_branches(struct FlameTree *tree, uint32_t *order)
{
    for (uint32_t i = 0; i < tree->count; i++)
        order[i] = i;
    qsort_r(order + 1, tree->count - 1, sizeof *order, compare, tree->branches);
    for (size_t i = tree->count; i-- > 1;) {
        struct FlameBranch *branch = &tree->branches[order[i]];
        struct FlameBranch *parent = &tree->branches[branch->parent];
        branch->sibling = parent->child;
        parent->child = order[i];
    }
    // Adds the total of each branch to its parent's total. Parents have smaller
    // indices than their children.
    for (size_t i = tree->count; i-- > 0;) {
        struct FlameBranch *branch = &tree->branches[i];
        branch->total += branch->self;
        if (i)
            tree->branches[branch->parent].total += branch->total;
    }
    tree->branches[0].name = "all threads";
}

// Builds the branches of the tree from the table. After an error the tree has
// no branches.
static int build(struct FlameTree *tree, const struct FlameShare *shares)
{
    const struct FlameTable *table = tree->table;
    size_t rows = FlameTree_rows(table), waits = FlameTree_waits(table);
    uint32_t *places = calloc(rows + waits + 1, sizeof *places);
    bool *lives = calloc(rows + 1, sizeof *lives);
    tree->branches = calloc(rows + waits + 1, sizeof *tree->branches);
    int error = places && lives && tree->branches ? 0 : -ENOMEM;
    if (!error && (!rows || !find_living(tree, lives)))
        error = -EPROTO;
    if (!error) {
        for (size_t i = 0; i < rows; i++)
            if (lives[i])
                add_branch(tree, places, i, shares, &places[i]);
        for (size_t i = 0; i < waits; i++)
            add_wait(tree, places[FlameTree_row_of(table, &table->waits[i])],
                     &table->waits[i],
                     shares ? shares[rows + i].self : table->waits[i].share);
        link_branches(tree, places);
    } else {
        free(tree->branches);
        tree->branches = NULL;
    }
    free(places);
    free(lives);
    return error;
}

int FlameTree_take(struct FlameTree *tree, struct FlameTable *table)
{
    struct FlameTree new = {.mode = tree->mode,
                            .idle = tree->idle,
                            .hides = tree->hides,
                            .table = table};
    int error = build(&new, NULL);
    FlameTree_release(error ? &new : tree);
    if (!error)
        *tree = new;
    return error;
}

int FlameTree_weigh(struct FlameTree *tree, const struct FlameShare *shares)
{
    struct FlameTree new = {.mode = tree->mode,
                            .idle = tree->idle,
                            .hides = tree->hides,
                            .table = tree->table};
    int error = build(&new, shares);
    if (error)
        return error;
    free(tree->branches);
    *tree = new;
    return 0;
}

// --- Windows

static uint64_t step(uint64_t path, uint64_t id)
{
    uint64_t hash = (path ^ id) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static double known(uint64_t ns)
{
    return ns == NULL_U64 ? 0 : (double)ns;
}

struct Moment FlameTree_moment(const struct FlameTree *tree)
{
    const struct FlameTable *table = tree->table;
    struct Moment moment = {.at_s = table->kept_s,
                            .samples = known(table->samples)};
    size_t rows = FlameTree_rows(table), count = rows + FlameTree_waits(table);
    if (table->rows[0].cpu_ns == NULL_U64)
        return moment;
    moment.totals = calloc(count, sizeof *moment.totals);
    for (size_t i = 0; moment.totals && i < rows; i++) {
        // build() has checked the index row->parent.
        const struct FlameRow *row = &table->rows[i];
        moment.totals[i] = (struct Total){
            .key = i ? step(moment.totals[row->parent].key, row->id) : 1,
            .all = known(row->cpu_ns),
            .in_c = known(row->c_ns)};
    }
    for (size_t i = rows; moment.totals && i < count; i++) {
        const struct FlameWait *wait = &table->waits[i - rows];
        moment.totals[i] = (struct Total){
            .key = step(moment.totals[FlameTree_row_of(table, wait)].key,
                        FLAME_WAIT_ID + WaitKind_of(wait->kind)),
            .all = known(wait->ns)};
    }
    moment.count = moment.totals ? count : 0;
    return moment;
}

struct FlameShare *FlameShares_since(const struct Moment *then,
                                     const struct Moment *now)
{
    double ns = (now->at_s - then->at_s) * 1e9;
    struct FlameShare *shares = NULL;
    if (now->count && ns > 0)
        shares = calloc(now->count, sizeof *shares);
    for (size_t i = 0; shares && i < now->count; i++) {
        struct Total since = Moment_since(then, &now->totals[i]);
        shares[i] = (struct FlameShare){since.all / ns, since.in_c / ns};
    }
    return shares;
}

void FlameTree_release(struct FlameTree *tree)
{
    FlameTable_free(tree->table);
    free(tree->branches);
    *tree = (struct FlameTree){
        .mode = tree->mode, .idle = tree->idle, .hides = tree->hides};
}

// --- Places

uint32_t FlameTree_find(const struct FlameTree *tree,
                        const struct FlamePath *path)
{
    uint32_t at = 0;
    for (int i = 0; i < path->depth; i++) {
        uint32_t child = tree->branches[at].child;
        while (child && tree->branches[child].id != path->ids[i])
            child = tree->branches[child].sibling;
        if (!child)
            break;
        at = child;
    }
    return at;
}

void FlameTree_path(const struct FlameTree *tree, uint32_t branch,
                    struct FlamePath *path)
{
    path->depth = tree->branches[branch].depth;
    for (int i = path->depth; i-- > 0;) {
        path->ids[i] = tree->branches[branch].id;
        branch = tree->branches[branch].parent;
    }
}

uint32_t FlameTree_hottest(const struct FlameTree *tree, uint32_t branch)
{
    uint32_t best = tree->branches[branch].child;
    for (uint32_t i = best; i; i = tree->branches[i].sibling)
        if (tree->branches[i].total > tree->branches[best].total)
            best = i;
    return best;
}

static uint32_t last_below(const struct FlameTree *tree, uint32_t branch)
{
    while (tree->branches[branch].child) {
        branch = tree->branches[branch].child;
        while (tree->branches[branch].sibling)
            branch = tree->branches[branch].sibling;
    }
    return branch;
}

uint32_t FlameTree_next(const struct FlameTree *tree, uint32_t branch, int step)
{
    const struct FlameBranch *at = &tree->branches[branch];
    if (step < 0) {
        uint32_t before = branch ? tree->branches[at->parent].child : 0;
        if (!branch)
            return last_below(tree, 0);
        if (before == branch)
            return at->parent;
        while (tree->branches[before].sibling != branch)
            before = tree->branches[before].sibling;
        return last_below(tree, before);
    }
    if (at->child)
        return at->child;
    while (branch && !tree->branches[branch].sibling)
        branch = tree->branches[branch].parent;
    return branch ? tree->branches[branch].sibling : 0;
}

bool FlameTree_is_below(const struct FlameTree *tree, uint32_t branch,
                        uint32_t above)
{
    while (tree->branches[branch].depth > tree->branches[above].depth)
        branch = tree->branches[branch].parent;
    return branch == above;
}
