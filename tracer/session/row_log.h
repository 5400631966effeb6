// SPDX-License-Identifier: MIT
// struct RowLog holds the memory of the rows of published snapshots. Each block
// of the log has the rows that changed for one snapshot. A snapshot refers to
// an older block as long as the block has valid rows. If most rows of a block
// are outdated, its other rows are moved to the next block. The mutex
// Session.draining guards struct RowLog.
#pragma once

#include "ipc/row_set.h"

struct RowLog {
    // The blocks of the log, the newest last.
    struct RowBlock *blocks[ROW_BLOCKS];
    size_t block_count;
    size_t count; // Number of valid rows in all blocks.
    // The block that is being filled for the next snapshot, until RowLog_end.
    struct RowBlock *begun;
    // The time of the snapshot for which the new rows in `begun` are filled.
    const struct RowMoment *begun_at;
    // The struct RowMoment of the row that was moved last, and its copy in the
    // new block.
    const struct RowMoment *moved, *copy;
    // Dropped blocks, linked by `next`. A reader of the snapshot before the
    // newest one may still read them.
    struct RowBlock *dead;
    struct RowBlock *spare; // An empty block for the next snapshot, or NULL.
    double known_s;         // See RowSet.known_s.
    size_t gone_count;
    // A ring buffer with the ids of functions whose rows were dropped.
    struct RowGone gone[ROWS_GONE];
    size_t gone_next;
};

// Frees all blocks of the log. No thread may still read rows of the log.
void RowLog_release(struct RowLog *log);
// Marks a row as outdated. In the next snapshot, the row's function has a new
// row or none.
void RowLog_drop(struct RowLog *log, struct SharedRow *row, double uptime_s);
void RowLog_note_gone(struct RowLog *log, uint64_t id, double uptime_s);
// Begins a block for `rows` new rows. Moves valid rows from replaced blocks to
// the new block, and calls `moved` for each of them. Returns false if there is
// no memory.
bool RowLog_begin(struct RowLog *log, const struct RowMoment *moment,
                  size_t rows,
                  void (*moved)(void *context, struct SharedRow *row),
                  void *context);
// Returns the next row of the block that RowLog_begin has begun. All members of
// the new row are 0 except `block`, `moment` and `until`.
struct SharedRow *RowLog_add(struct RowLog *log);
// Ends the block that RowLog_begin has begun. Returns the set of rows for the
// snapshot that is being built. The set is allocated in the memory of this
// snapshot. Returns NULL if there is no memory.
struct RowSet *RowLog_end(struct RowLog *log, const struct RowMoment *moment,
                          struct Snapshot *snapshot);
// RowLog_fail drops all rows. RowLog_fail is called if there was no memory. The
// next snapshot is then sent to viewers as a whole.
void RowLog_fail(struct RowLog *log, double uptime_s);
// RowLog_reclaim is called when no thread reads the snapshot before the newest
// one any more. Frees the dropped blocks except one, which becomes `spare`.
void RowLog_reclaim(struct RowLog *log);
