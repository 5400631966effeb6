// SPDX-License-Identifier: MIT
// The tree of stacks; see the header. Parents come before their children, so
// that one pass from the end sums up what is below each.
#include "tracer/sample/flame.h"

#include "ipc/base/heap.h"
#include "tracer/base/rcu.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 1e-5 // of a core: less is not reported

void Flame_init(struct Flame *flame)
{
    memset(flame, 0, sizeof(*flame));
    pthread_mutex_init(&flame->lock, NULL);
}

void Flame_release(struct Flame *flame)
{
    Flame_abandon(flame);
    pthread_mutex_destroy(&flame->lock);
}

void Flame_abandon(struct Flame *flame)
{
    Heap_free(flame->nodes);
    flame->nodes = NULL;
}

// --- Adding, with the lock

struct Part {
    double self;      // a node's, in the window
    double total;     // and of all below it
    double all_total; // the same since the start
};

// Of each node. The caller's, with Heap_free; NULL: memory.
static struct Part *sum_up(const struct Flame *flame,
                           const struct ShareTime *now)
{
    struct Part *parts = Heap_zeroed(FLAME_NODES, sizeof(*parts));

    for (size_t i = flame->count; parts && i-- > 0;) {
        parts[i].self = ShareValue_window(&flame->nodes[i].self, now);
        parts[i].total += parts[i].self;
        parts[i].all_total += ShareValue_total(&flame->nodes[i].self, now);
        if (i) {
            parts[flame->nodes[i].parent].total += parts[i].total;
            parts[flame->nodes[i].parent].all_total += parts[i].all_total;
        }
    }
    return parts;
}

static void join(struct FlameNode *caller, const struct FlameNode *node,
                 const struct ShareTime *now)
{
    ShareValue_join(&caller->self, &node->self, now);
    ShareValue_join(&caller->in_c, &node->in_c, now);
}

static void link_child(struct Flame *flame, uint32_t number)
{
    struct FlameNode *node = &flame->nodes[number];
    struct FlameNode *parent = &flame->nodes[node->parent];

    node->child = 0;
    node->sibling = parent->child;
    parent->child = number;
}

// Drops the nodes below that share, with all that is below them.
static void prune(struct Flame *flame, const struct Part *parts, double least,
                  const struct ShareTime *now)
{
    uint32_t *moved = Heap_zeroed(FLAME_NODES, sizeof(*moved));
    size_t kept = 1;

    if (!moved)
        return;
    // What goes is added up from the end, before anything has moved.
    for (size_t i = flame->count; i-- > 1;) {
        if (parts[i].total < least)
            join(&flame->nodes[flame->nodes[i].parent], &flame->nodes[i], now);
    }
    flame->nodes[0].child = 0;
    for (size_t i = 1; i < flame->count; i++) {
        struct FlameNode *node = &flame->nodes[kept];

        if (parts[i].total < least)
            continue;
        *node = flame->nodes[i];
        node->parent = moved[node->parent];
        moved[i] = (uint32_t)kept;
        link_child(flame, (uint32_t)kept++);
    }
    flame->count = kept;
    Heap_free(moved);
}

// Room for a quarter of all.
static void make_room(struct Flame *flame, const struct ShareTime *now)
{
    struct Part *parts = sum_up(flame, now);
    double least = LEAST;
    size_t left = FLAME_NODES;

    while (parts && left > FLAME_NODES * 3 / 4) {
        left = 1;
        for (size_t i = 1; i < flame->count; i++)
            left += parts[i].total >= least;
        if (left > FLAME_NODES * 3 / 4)
            least *= 2;
    }
    if (parts)
        prune(flame, parts, least, now);
    Heap_free(parts);
}

// The child of that function, made where there is room, else 0. It comes to
// the front of its siblings.
static uint32_t step(struct Flame *flame, uint32_t parent, uint32_t id)
{
    struct FlameNode *nodes = flame->nodes;
    uint32_t *link = &nodes[parent].child, child;

    while (*link && nodes[*link].id != id)
        link = &nodes[*link].sibling;
    child = *link;
    if (child) {
        *link = nodes[child].sibling;
        nodes[child].sibling = nodes[parent].child;
        nodes[parent].child = child;
    } else if (flame->count < FLAME_NODES) {
        child = (uint32_t)flame->count++;
        nodes[child] = (struct FlameNode){.id = id, .parent = parent};
        link_child(flame, child);
    }
    return child;
}

static void add(struct Flame *flame, const struct ShareTime *now,
                const struct FlameSample *sample)
{
    struct ShareCredit credit;
    struct FlameNode *node;
    uint32_t at = 0, next = 0;

    if (flame->count + sample->depth > FLAME_NODES)
        make_room(flame, now);
    for (size_t i = 0; i < sample->depth; i++) {
        next = step(flame, at, sample->path[i]);
        if (!next)
            break; // no memory to make room
        at = next;
    }
    node = &flame->nodes[at];
    ShareCredit_init(&credit, now, sample->cpu_ns);
    ShareValue_credit(&node->self, &credit);
    if (sample->in_c)
        ShareValue_credit(&node->in_c, &credit);
    flame->samples++;
}

static bool begin(struct Flame *flame)
{
    if (!flame->nodes) {
        flame->nodes = Heap_zeroed(FLAME_NODES, sizeof(*flame->nodes));
        flame->count = 1;
    }
    return flame->nodes;
}

void Flame_add(struct Flame *flame, const struct ShareTime *now,
               const struct FlameSample *sample)
{
    pthread_mutex_lock(&flame->lock);
    if (begin(flame))
        add(flame, now, sample);
    pthread_mutex_unlock(&flame->lock);
}

// --- Asking

static struct FlameTable *tell(const struct Flame *flame,
                               const struct ShareTime *now)
{
    struct FlameTable *table = FlameTable_new();
    struct Part *parts = sum_up(flame, now);
    struct FlameRow *rows = NULL;
    uint64_t *numbers = Heap_zeroed(FLAME_NODES, sizeof(*numbers));
    size_t count = 0;

    if (table)
        rows = Arena_alloc(&table->arena, flame->count * sizeof(*rows));
    for (size_t i = 0; rows && parts && numbers && i < flame->count; i++) {
        const struct FlameNode *node = &flame->nodes[i];

        if (i && parts[i].total < LEAST && parts[i].all_total < LEAST)
            continue;
        numbers[i] = count;
        rows[count++] = (struct FlameRow){
            .parent = i ? numbers[node->parent] : NULL_U64,
            .id = node->id ? node->id : NULL_U64,
            .share = parts[i].self,
            .c_share = ShareValue_window(&node->in_c, now),
            .cpu_ns = Counter_get(&node->self.total_ns),
            .c_ns = Counter_get(&node->in_c.total_ns),
        };
    }
    Heap_free(parts);
    Heap_free(numbers);
    if (!count) {
        FlameTable_free(table);
        return NULL;
    }
    table->kept_s = now->ns / 1e9;
    table->samples = flame->samples;
    table->rows = rows;
    table->row_count = count;
    return table;
}

struct FlameTable *Flame_read(struct Flame *flame, const struct ShareTime *now)
{
    struct FlameTable *table = NULL;

    pthread_mutex_lock(&flame->lock);
    if (begin(flame))
        table = tell(flame, now);
    pthread_mutex_unlock(&flame->lock);
    return table;
}

// --- Names

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct FlameFunction *)a)->id;
    uint64_t y = ((const struct FlameFunction *)b)->id;

    return (x > y) - (x < y);
}

static bool name_one(struct FlameTable *table, struct FlameFunction *function,
                     struct Registry *registry)
{
    const struct Code *code;
    bool whole = true;

    Rcu_read_lock();
    code = Registry_by_id(registry, (uint32_t)function->id);
    if (code) {
        function->name = Arena_text(&table->arena, code->who.name);
        function->file = Arena_text(&table->arena, code->who.file);
        function->line = code->who.line;
        whole = function->name && function->file;
    }
    Rcu_read_unlock();
    return whole;
}

bool Flame_name(struct FlameTable *table, struct Registry *registry)
{
    struct FlameFunction *functions =
        Arena_alloc(&table->arena, (table->row_count + 1) * sizeof(*functions));
    size_t count = 0, kept = 0;

    if (!functions)
        return false;
    for (size_t i = 0; i < table->row_count; i++) {
        if (table->rows[i].id != NULL_U64)
            functions[count++] = (struct FlameFunction){.id = table->rows[i].id,
                                                        .line = NULL_U64};
    }
    qsort(functions, count, sizeof(*functions), by_id);
    for (size_t i = 0; i < count; i++) {
        if (kept && functions[kept - 1].id == functions[i].id)
            continue;
        functions[kept] = functions[i];
        if (!name_one(table, &functions[kept++], registry))
            return false;
    }
    table->functions = functions;
    table->function_count = kept;
    return true;
}
