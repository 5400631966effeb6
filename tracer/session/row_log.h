// SPDX-License-Identifier: MIT
// Holds the memory of the rows of published snapshots. Each block has the rows
// that changed for one snapshot. A snapshot refers to an older block as long as
// the block has valid rows. If most rows of a block are outdated, the valid
// rows are moved to the next block. Session.draining guards the log.
#ifndef OCULAR_TRACER_SESSION_ROW_LOG_H
#define OCULAR_TRACER_SESSION_ROW_LOG_H

#include "ipc/row_set.h"

struct RowLog {
    struct RowBlock *blocks[ROW_BLOCKS]; // sorted with the newest block last
    size_t block_count;
    size_t count;           // number of valid rows
    struct RowBlock *begun; // block for the next snapshot, until RowLog_end
    const struct RowMoment *begun_at; // the moment of the new rows in `begun`
    // The moment of the row that was moved last, and the copy of this moment in
    // the new block.
    const struct RowMoment *moved, *copy;
    // Dropped blocks, linked by `next`. A reader of the last but one snapshot
    // may still read these blocks.
    struct RowBlock *dead;
    struct RowBlock *spare; // a block for the next snapshot, or NULL
    double known_s;         // has the same meaning as in struct RowSet
    size_t gone_count;
    struct RowGone gone[ROWS_GONE]; // a ring buffer of dropped rows
    size_t gone_next;
};

void RowLog_release(struct RowLog *log); // no thread may read the rows any more
// Marks `row` as outdated. In the next snapshot the row's function has another
// row or no row.
void RowLog_drop(struct RowLog *log, struct SharedRow *row, double uptime_s);
void RowLog_note_gone(struct RowLog *log, uint64_t id, double uptime_s);
// Begins a block for `rows` new rows. The valid rows of the replaced blocks are
// moved into the new block, and `moved` is called for each of these rows.
// Returns false if memory is out.
bool RowLog_begin(struct RowLog *log, const struct RowMoment *moment,
                  size_t rows,
                  void (*moved)(void *context, struct SharedRow *row),
                  void *context);
// Returns the next row of the block that RowLog_begin has begun. All fields of
// the row are 0 except its block and its moment.
struct SharedRow *RowLog_add(struct RowLog *log);
// Ends the block. Returns the set of rows for the snapshot that is being built.
// The set is in the memory of that snapshot. Returns NULL if memory is out.
struct RowSet *RowLog_end(struct RowLog *log, const struct RowMoment *moment,
                          struct Snapshot *snapshot);
// Drops all rows after memory ran out. The next snapshot must be sent as a
// whole.
void RowLog_fail(struct RowLog *log, double uptime_s);
// This function is called when no thread reads the last but one snapshot any
// more. Frees the dead blocks except one, which becomes `spare`.
void RowLog_reclaim(struct RowLog *log);
size_t RowLog_bytes(const struct RowLog *log);

#endif
