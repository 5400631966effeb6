// SPDX-License-Identifier: MIT
// Each node of the tree comes after its parent in the array. A single pass from
// the last node to the first therefore adds the sum of each node to its parent.
#include "tracer/sample/flame.h"

#include "ipc/base/heap.h"

#include <stdlib.h>
#include <string.h>

// Smallest size of nodes that find_least tries, as a fraction of one core's
// time. Nodes that are smaller than the result of find_least are dropped from
// the tree.
#define SMALLEST 1e-7
#define FIRST_ROOM 256

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
    Heap_free(flame->places);
    flame->nodes = NULL;
    flame->places = NULL;
}

// --- Adding, with the lock

// The sum of the shares of a node and of all its descendants, in the newest
// seconds and since the start. The size of a node is the larger of its `window`
// and its `whole`.
struct Part {
    double window, whole;
};

static double Part_size(const struct Part *part)
{
    return part->window > part->whole ? part->window : part->whole;
}

// Returns an array with a struct Part for each node of the tree, or NULL if
// there is no memory. The caller frees the array with Heap_free.
static struct Part *sum_up(const struct Flame *flame,
                           const struct ShareTime *now)
{
    struct Part *parts = Heap_zeroed(flame->count, sizeof(*parts));

    for (size_t i = flame->count; parts && i-- > 0;) {
        const struct FlameNode *node = &flame->nodes[i];

        parts[i].window += ShareValue_window(&node->self, now);
        parts[i].whole += ShareValue_total(&node->self, now);
        if (i) {
            parts[node->parent].window += parts[i].window;
            parts[node->parent].whole += parts[i].whole;
        }
    }
    return parts;
}

// Returns a size that at most `most` nodes of the tree have or exceed. Waits of
// the root are not counted. A node is never larger than its caller's node.
static double find_least(const struct Flame *flame, const struct Part *parts,
                         size_t most)
{
    double least = 0;
    size_t left = flame->count - FLAME_OWN_WAITS;

    while (left > most) {
        least = least > 0 ? 2 * least : SMALLEST;
        left = 1;
        for (size_t i = 1 + FLAME_OWN_WAITS; i < flame->count; i++)
            left += Part_size(&parts[i]) >= least;
    }
    return least;
}

static void join(struct FlameNode *caller, const struct FlameNode *node,
                 const struct ShareTime *now)
{
    ShareValue_join(&caller->self, &node->self, now);
    ShareValue_join(&caller->in_c, &node->in_c, now);
}

// Searches the children of the node `parent` for the child of the function
// `id`. Returns the index of the child in the hash table, or of a free entry
// for it. A hash table is used, because a function may have hundreds of
// children.
static uint32_t *place_of(const struct Flame *flame, uint32_t parent,
                          uint32_t id)
{
    uint64_t key = (uint64_t)parent << 32 | id;
    size_t last = flame->room * FLAME_PLACES - 1; // `room` is a power of two.
    size_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32 & last;

    for (; flame->places[at]; at = (at + 1) & last) {
        const struct FlameNode *node = &flame->nodes[flame->places[at]];

        if (node->parent == parent && node->id == id)
            break;
    }
    return &flame->places[at];
}

static void place(struct Flame *flame, uint32_t number)
{
    const struct FlameNode *node = &flame->nodes[number];

    *place_of(flame, node->parent, node->id) = number;
}

static bool is_small(const struct Part *parts, size_t i, double least)
{
    return i > FLAME_OWN_WAITS && Part_size(&parts[i]) < least;
}

static bool is_wait(const struct FlameNode *node)
{
    return FlameWait_kind(node->id) >= 0;
}

// Returns the index of the node that gets the time of a dropped node, which is
// the root's wait of the same kind or the caller's node.
static size_t target_of(const struct FlameNode *node)
{
    return is_wait(node) ? 1 + (size_t)FlameWait_kind(node->id) : node->parent;
}

// Removes from the tree the nodes that are smaller than `least`, and their
// descendants.
static void prune(struct Flame *flame, const struct Part *parts, double least,
                  const struct ShareTime *now)
{
    uint32_t *moved = Heap_zeroed(flame->count, sizeof(*moved));
    size_t kept = 1;

    if (!moved)
        return;
    // The time of each dropped node is added to another node, from the last
    // node to the first, before any node moves.
    for (size_t i = flame->count; i-- > 1;) {
        if (is_small(parts, i, least))
            join(&flame->nodes[target_of(&flame->nodes[i])], &flame->nodes[i],
                 now);
    }
    memset(flame->places, 0,
           flame->room * FLAME_PLACES * sizeof(*flame->places));
    for (size_t i = 1; i < flame->count; i++) {
        struct FlameNode *node = &flame->nodes[kept];

        if (is_small(parts, i, least))
            continue;
        *node = flame->nodes[i];
        node->parent = moved[node->parent];
        moved[i] = (uint32_t)kept;
        place(flame, (uint32_t)kept++);
    }
    flame->count = kept;
    Heap_free(moved);
}

static void make_room(struct Flame *flame, const struct ShareTime *now)
{
    struct Part *parts = sum_up(flame, now);

    if (parts)
        prune(flame, parts, find_least(flame, parts, flame->room * 3 / 4), now);
    Heap_free(parts);
}

static bool grow(struct Flame *flame, size_t room)
{
    struct FlameNode *nodes = Heap_resize(flame->nodes, room * sizeof *nodes);
    uint32_t *places;

    if (!nodes)
        return false;
    flame->nodes = nodes;
    places = Heap_zeroed(room * FLAME_PLACES, sizeof *places);
    if (!places)
        return false;
    Heap_free(flame->places);
    flame->places = places;
    flame->room = room;
    for (size_t i = 1; i < flame->count; i++)
        place(flame, (uint32_t)i);
    return true;
}

// Allocates memory for `count` more nodes of the tree. Without memory, or if
// there would be too many nodes, removes the smallest nodes instead.
static void reserve(struct Flame *flame, size_t count,
                    const struct ShareTime *now)
{
    size_t room = flame->room;

    if (flame->count + count <= room)
        return;
    while (flame->count + count > room && room < FLAME_NODES)
        room *= 2;
    if (room > flame->room)
        grow(flame, room);
    if (flame->count + count > flame->room)
        make_room(flame, now);
}

// Returns the child of the node `parent` for the function or the wait `id`,
// which is made if it is missing. Returns 0 if there is no room for a new child
// node.
static uint32_t step(struct Flame *flame, uint32_t parent, uint32_t id)
{
    uint32_t *child = place_of(flame, parent, id);

    if (!*child && flame->count < flame->room) {
        *child = (uint32_t)flame->count++;
        flame->nodes[*child] = (struct FlameNode){.id = id, .parent = parent};
    }
    return *child;
}

static void add(struct Flame *flame, const struct ShareTime *now,
                const struct FlameSample *sample)
{
    struct ShareCredit credit;
    struct FlameNode *node;
    uint32_t at = 0, next = 0;

    reserve(flame, sample->depth, now);
    for (size_t i = 0; i < sample->depth; i++) {
        next = step(flame, at, sample->path[i]);
        if (!next)
            break; // No node is free, and there is no memory for a new one.
        at = next;
    }
    node = &flame->nodes[at];
    ShareCredit_init(&credit, now, sample->cpu_ns);
    ShareValue_credit(&node->self, &credit);
    if (sample->in_c)
        ShareValue_credit(&node->in_c, &credit);
    flame->samples += !is_wait(node);
}

static bool begin(struct Flame *flame)
{
    if (flame->count)
        return true;
    if (!grow(flame, FIRST_ROOM))
        return false;
    flame->nodes[0] = (struct FlameNode){0};
    flame->count = 1;
    for (uint32_t kind = 0; kind < FLAME_OWN_WAITS; kind++)
        step(flame, 0, FLAME_WAIT_ID + kind);
    return true;
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

// A tree of stacks, and the table that is made from the tree.
struct Reading {
    const struct Flame *flame;
    const struct ShareTime *now;
    const struct Part *parts;
    double least;      // The size of the smallest nodes that get a row.
    uint32_t *numbers; // Number of each node's row.
    struct FlameTable *table;
};

// Writes a row for each node of a function that is not smaller than `least`.
// Adds the times of smaller nodes to their callers' rows.
static void fill(struct Reading *reading, struct FlameRow *rows)
{
    const struct Flame *flame = reading->flame;
    const struct ShareTime *now = reading->now;
    uint32_t *numbers = reading->numbers;
    size_t count = 0;

    for (size_t i = 0; i < flame->count; i++) {
        const struct FlameNode *node = &flame->nodes[i];
        struct FlameRow *row;

        if (is_wait(node))
            continue;
        if (i)
            numbers[i] = numbers[node->parent];
        if (!i || !is_small(reading->parts, i, reading->least)) {
            rows[count] = (struct FlameRow){
                .parent = i ? numbers[i] : NULL_U64,
                .id = node->id ? node->id : NULL_U64,
            };
            numbers[i] = (uint32_t)count++;
        }
        row = &rows[numbers[i]];
        row->share += ShareValue_window(&node->self, now);
        row->c_share += ShareValue_window(&node->in_c, now);
        row->cpu_ns += Counter_get(&node->self.total_ns);
        row->c_ns += Counter_get(&node->in_c.total_ns);
    }
    reading->table->rows = rows;
    reading->table->row_count = count;
}

static void add_wait(struct FlameWait *wait, const struct ShareValue *value,
                     double factor, const struct ShareTime *now)
{
    wait->share += factor * ShareValue_window(value, now);
    wait->ns += (uint64_t)(factor * (double)Counter_get(&value->total_ns));
}

// Returns the time of a wait's node. Waiting time whose kind is unknown is
// divided in proportion to the other waits of the same caller.
static struct FlameWait wait_of(const struct Reading *reading,
                                const struct FlameNode *node)
{
    const struct Flame *flame = reading->flame;
    struct FlameWait wait = {
        .parent = reading->numbers[node->parent],
        .kind = WaitKind_name((unsigned)FlameWait_kind(node->id))};
    double own = (double)Counter_get(&node->self.total_ns), known = 0;
    uint32_t at;

    for (uint32_t kind = 0; kind < WAIT_KINDS; kind++) {
        at = *place_of(flame, node->parent, FLAME_WAIT_ID + kind);
        known += at ? (double)Counter_get(&flame->nodes[at].self.total_ns) : 0;
    }
    if (wait.kind || !(known > 0))
        add_wait(&wait, &node->self, 1, reading->now);
    at = *place_of(flame, node->parent, FLAME_WAIT_ID + WAIT_UNKNOWN);
    if (at && wait.kind && known > 0)
        add_wait(&wait, &flame->nodes[at].self, own / known, reading->now);
    return wait;
}

// Writes a row for each wait that is not smaller than `least`. Adds the times
// of smaller waits to the waits of the root, which come first.
static void fill_waits(struct Reading *reading, struct FlameWait *waits)
{
    const struct Flame *flame = reading->flame;
    size_t count = 0, kept = 0;

    for (size_t i = 1; i < flame->count; i++) {
        const struct FlameNode *node = &flame->nodes[i];
        struct FlameWait wait;

        if (!is_wait(node))
            continue;
        wait = wait_of(reading, node);
        if (is_small(reading->parts, i, reading->least)) {
            waits[target_of(node) - 1].share += wait.share;
            waits[target_of(node) - 1].ns += wait.ns;
        } else {
            waits[count++] = wait;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (waits[i].share > 0 || waits[i].ns)
            waits[kept++] = waits[i];
    }
    reading->table->waits = waits;
    reading->table->wait_count = kept;
}

static struct FlameTable *tell(const struct Flame *flame, size_t most,
                               const struct ShareTime *now)
{
    struct FlameTable *table = FlameTable_new();
    struct Part *parts = sum_up(flame, now);
    uint32_t *numbers = Heap_zeroed(flame->count, sizeof(*numbers));
    struct Reading reading = {flame, now, parts, 0, numbers, table};
    struct FlameRow *rows = NULL;
    struct FlameWait *waits = NULL;
    size_t room = flame->count < most ? flame->count : most;

    if (table) {
        rows = Arena_alloc(&table->arena, room * sizeof(*rows));
        waits = Arena_alloc(&table->arena,
                            (room + FLAME_OWN_WAITS) * sizeof(*waits));
    }
    if (rows && waits && parts && numbers) {
        reading.least = find_least(flame, parts, room);
        fill(&reading, rows);
        fill_waits(&reading, waits);
        table->kept_s = now->ns / 1e9;
        table->samples = flame->samples;
    } else {
        FlameTable_free(table);
        table = NULL;
    }
    Heap_free(parts);
    Heap_free(numbers);
    return table;
}

struct FlameTable *Flame_read(struct Flame *flame, const struct ShareTime *now,
                              size_t most)
{
    struct FlameTable *table = NULL;

    pthread_mutex_lock(&flame->lock);
    if (begin(flame))
        table = tell(flame, most, now);
    pthread_mutex_unlock(&flame->lock);
    return table;
}

void Flame_below(struct Flame *flame, uint32_t id, FlameVisit *visit,
                 void *context)
{
    pthread_mutex_lock(&flame->lock);
    for (size_t i = 1; i < flame->count; i++) {
        const struct FlameNode *node = &flame->nodes[i];
        const struct FlameNode *line = &flame->nodes[node->parent];

        if (node->parent && line->parent && flame->nodes[line->parent].id == id)
            visit(context, line->id, node->id,
                  Counter_get(&node->self.total_ns));
    }
    pthread_mutex_unlock(&flame->lock);
}

// --- Functions

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct FlameFunction *)a)->id;
    uint64_t y = ((const struct FlameFunction *)b)->id;

    return (x > y) - (x < y);
}

struct FlameFunction *Flame_list(struct FlameTable *table)
{
    struct FlameFunction *functions =
        Arena_alloc(&table->arena, (table->row_count + 1) * sizeof(*functions));
    size_t count = 0, kept = 0;

    if (!functions)
        return NULL;
    for (size_t i = 0; i < table->row_count; i++) {
        if (table->rows[i].id != NULL_U64)
            functions[count++] = (struct FlameFunction){
                .id = table->rows[i].id, .line = NULL_U64, .address = NULL_U64};
    }
    qsort(functions, count, sizeof(*functions), by_id);
    for (size_t i = 0; i < count; i++) {
        if (kept && functions[kept - 1].id == functions[i].id)
            continue;
        functions[kept++] = functions[i];
    }
    table->functions = functions;
    table->function_count = kept;
    return functions;
}
