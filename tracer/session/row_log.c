// SPDX-License-Identifier: MIT
#include "tracer/session/row_log.h"
#include "ipc/base/heap.h"

#include <string.h>

// --- Blocks

static void free_blocks(struct RowBlock *block)
{
    while (block) {
        struct RowBlock *next = block->next;

        Arena_release(&block->arena);
        Heap_free(block);
        block = next;
    }
}

void RowLog_release(struct RowLog *log)
{
    for (size_t i = 0; i < log->block_count; i++)
        free_blocks(log->blocks[i]);
    free_blocks(log->begun);
    free_blocks(log->dead);
    free_blocks(log->spare);
    memset(log, 0, sizeof *log);
}

void RowLog_reclaim(struct RowLog *log)
{
    struct RowBlock *block = log->dead;

    if (!block)
        return;
    log->dead = NULL;
    free_blocks(log->spare);
    free_blocks(block->next);
    block->next = NULL;
    log->spare = block;
}

static struct RowBlock *new_block(struct RowLog *log)
{
    struct RowBlock *block = log->spare;

    log->spare = NULL;
    if (!block)
        return Heap_zeroed(1, sizeof *block);
    Arena_clear(&block->arena);
    *block = (struct RowBlock){.arena = block->arena};
    return block;
}

// --- Rows

void RowLog_drop(struct RowLog *log, struct SharedRow *row, double uptime_s)
{
    // This store pairs with the load in row_set.c, by which a reader of an
    // older snapshot reads `until`.
    atomic_store_explicit(&row->until, uptime_s, memory_order_relaxed);
    row->block->live--;
    log->count--;
}

void RowLog_note_gone(struct RowLog *log, uint64_t id, double uptime_s)
{
    struct RowGone *place = &log->gone[log->gone_next];

    if (log->gone_count == ROWS_GONE)
        log->known_s = place->uptime_s;
    else
        log->gone_count++;
    *place = (struct RowGone){uptime_s, id};
    log->gone_next = (log->gone_next + 1) % ROWS_GONE;
}

struct SharedRow *RowLog_add(struct RowLog *log)
{
    struct RowBlock *block = log->begun;
    struct SharedRow *row = &block->rows[block->count++];

    atomic_init(&row->until, INFINITY);
    row->block = block;
    row->moment = log->begun_at;
    block->live++;
    log->count++;
    return row;
}

static bool is_live(const struct SharedRow *row)
{
    return atomic_load_explicit(&row->until, memory_order_relaxed) == INFINITY;
}

// Copies a struct RowMoment into the new block. Each struct RowMoment is copied
// once, because rows that were filled at the same time are next to each other.
static const struct RowMoment *copy_moment(struct RowLog *log,
                                           const struct RowMoment *moment)
{
    struct RowMoment *copy;

    if (moment == log->moved)
        return log->copy;
    copy = Arena_alloc(&log->begun->arena, sizeof *copy);
    if (copy)
        *copy = *moment;
    log->moved = moment;
    log->copy = copy;
    return copy;
}

static void move_row(struct RowLog *log, const struct SharedRow *from)
{
    const struct Fading same = {1, 1, 0};
    struct SharedRow *to = RowLog_add(log);

    to->function = from->function;
    to->moment = copy_moment(log, from->moment);
    to->slot = from->slot;
    to->events = from->events;
    log->count--; // The row was already counted in its old block.
    to->function.name = Arena_text(&log->begun->arena, from->function.name);
    to->function.file = Arena_text(&log->begun->arena, from->function.file);
    Fading_apply(&same, &to->function, &log->begun->arena);
}

// --- Which blocks are dropped

static void kill_block(struct RowLog *log, size_t at)
{
    struct RowBlock *block = log->blocks[at];

    memmove(&log->blocks[at], &log->blocks[at + 1],
            (--log->block_count - at) * sizeof *log->blocks);
    block->next = log->dead;
    log->dead = block;
}

// Returns true if it costs less to move the block's rows than to keep the
// block.
static bool is_outdated(const struct RowBlock *block)
{
    return 2 * block->live < block->count;
}

static size_t find_smallest(const struct RowLog *log)
{
    size_t found = 0;

    for (size_t i = 1; i < log->block_count; i++)
        if (log->blocks[i]->live < log->blocks[found]->live)
            found = i;
    return found;
}

static bool goes(const struct RowLog *log, size_t at, size_t smallest)
{
    return is_outdated(log->blocks[at]) ||
           (log->block_count == ROW_BLOCKS && at == smallest);
}

static void move_rows(struct RowLog *log, struct RowBlock *block,
                      void (*moved)(void *context, struct SharedRow *row),
                      void *context)
{
    for (size_t i = 0; i < block->count; i++) {
        if (!is_live(&block->rows[i]))
            continue;
        move_row(log, &block->rows[i]);
        moved(context, &log->begun->rows[log->begun->count - 1]);
    }
    block->live = 0;
}

bool RowLog_begin(struct RowLog *log, const struct RowMoment *moment,
                  size_t rows,
                  void (*moved)(void *context, struct SharedRow *row),
                  void *context)
{
    size_t smallest = find_smallest(log), room = rows;
    struct RowBlock *block = new_block(log);

    if (!block)
        return false;
    for (size_t i = 0; i < log->block_count; i++)
        if (goes(log, i, smallest))
            room += log->blocks[i]->live;
    log->begun = block;
    block->newest_s = moment->uptime_s;
    log->moved = NULL;
    log->begun_at = copy_moment(log, moment);
    block->rows = Arena_alloc(&block->arena, room * sizeof *block->rows);
    if (!block->rows || !log->begun_at)
        return false;
    for (size_t i = log->block_count; i-- > 0;)
        if (goes(log, i, smallest))
            move_rows(log, log->blocks[i], moved, context);
    for (size_t i = log->block_count; i-- > 0;)
        if (!log->blocks[i]->live)
            kill_block(log, i);
    return true;
}

void RowLog_fail(struct RowLog *log, double uptime_s)
{
    while (log->block_count)
        kill_block(log, log->block_count - 1);
    if (log->begun) {
        log->begun->next = log->dead;
        log->dead = log->begun;
        log->begun = NULL;
    }
    log->count = log->gone_count = log->gone_next = 0;
    log->known_s = uptime_s;
}

static void copy_gone(const struct RowLog *log, struct RowSet *set)
{
    set->known_s = log->known_s;
    set->gone_count = log->gone_count;
    memcpy(set->gone, log->gone, log->gone_count * sizeof *log->gone);
}

struct RowSet *RowLog_end(struct RowLog *log, const struct RowMoment *moment,
                          struct Snapshot *snapshot)
{
    struct RowSet *set = Snapshot_alloc(snapshot, sizeof *set);

    log->blocks[log->block_count++] = log->begun;
    log->begun = NULL;
    if (!set)
        return NULL;
    set->moment = *moment;
    set->count = log->count;
    set->block_count = log->block_count;
    for (size_t i = 0; i < log->block_count; i++)
        set->blocks[i] = log->blocks[i];
    copy_gone(log, set);
    return set;
}
