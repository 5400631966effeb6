// SPDX-License-Identifier: MIT
// struct RowLog holds the memory of the rows of published snapshots. Each block
// has the rows that changed for one snapshot. A snapshot refers to an older
// block as long as the block has valid rows. If most rows of a block are
// outdated, its valid rows are moved to the next block. Session.draining guards
// the log.
#ifndef OCULAR_TRACER_SESSION_ROW_LOG_H
#define OCULAR_TRACER_SESSION_ROW_LOG_H

#include "ipc/row_set.h"

struct RowLog {
    struct RowBlock *blocks[ROW_BLOCKS]; // The blocks, the newest last.
    size_t block_count;
    size_t count; // Number of valid rows.
    // The block for the next snapshot, until RowLog_end.
    struct RowBlock *begun;
    const struct RowMoment *begun_at; // The moment of the new rows in `begun`.
    // The moment of the row that was moved last, and the copy of this moment in
    // the new block.
    const struct RowMoment *moved, *copy;
    // Dropped blocks, linked by `next`. A reader of the last snapshot but one
    // may still read them.
    struct RowBlock *dead;
    struct RowBlock *spare; // An empty block for the next snapshot, or NULL.
    double known_s;         // See RowSet.known_s.
    size_t gone_count;
    struct RowGone gone[ROWS_GONE]; // A ring buffer of dropped rows.
    size_t gone_next;
};

// Frees all blocks. No thread may read the rows any more.
void RowLog_release(struct RowLog *log);
// Marks the row as outdated. In the next snapshot the row's function has
// another row or none.
void RowLog_drop(struct RowLog *log, struct SharedRow *row, double uptime_s);
void RowLog_note_gone(struct RowLog *log, uint64_t id, double uptime_s);
// Begins a block for `rows` new rows. Moves the valid rows of the replaced
// blocks into the new block, and calls `moved` for each of these rows. Returns
// false if there is no memory.
bool RowLog_begin(struct RowLog *log, const struct RowMoment *moment,
                  size_t rows,
                  void (*moved)(void *context, struct SharedRow *row),
                  void *context);
// Returns the next row of the block that RowLog_begin has begun. All members of
// the row are 0 except its block and its moment.
struct SharedRow *RowLog_add(struct RowLog *log);
// Ends the block. Returns the set of rows for the snapshot that is being built.
// The set is in the memory of this snapshot. Returns NULL if there is no
// memory.
struct RowSet *RowLog_end(struct RowLog *log, const struct RowMoment *moment,
                          struct Snapshot *snapshot);
// Drops all rows, because there was no memory. The next snapshot must be sent
// as a whole.
void RowLog_fail(struct RowLog *log, double uptime_s);
// Must be called when no thread reads the last snapshot but one any more. Frees
// the dead blocks except one, which becomes `spare`.
void RowLog_reclaim(struct RowLog *log);
size_t RowLog_bytes(const struct RowLog *log);

#endif
