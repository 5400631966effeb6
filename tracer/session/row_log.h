// SPDX-License-Identifier: MIT
// The memory of the rows of published snapshots. Each block has the rows that
// changed for one snapshot. A snapshot refers to older blocks as long as these
// have valid rows. If most rows of a block are outdated, its valid rows are
// moved to the next block. Session.draining guards the log.
#ifndef OCULAR_TRACER_SESSION_ROW_LOG_H
#define OCULAR_TRACER_SESSION_ROW_LOG_H

#include "ipc/row_set.h"

struct RowLog {
    struct RowBlock *blocks[ROW_BLOCKS]; // the newest is last
    size_t block_count;
    size_t count;           // number of valid rows
    struct RowBlock *begun; // block of the next snapshot, until RowLog_end
    const struct RowMoment *begun_at; // the moment of its new rows
    // The moment of the row that was moved last, and its copy in the new block.
    const struct RowMoment *moved, *copy;
    // Dropped blocks, linked by `next`. A reader of the snapshot before the
    // newest may still read these blocks.
    struct RowBlock *dead;
    struct RowBlock *spare; // for the next snapshot; or NULL
    double known_s;         // as in struct RowSet
    size_t gone_count;
    struct RowGone gone[ROWS_GONE]; // a ring buffer
    size_t gone_next;
};

void RowLog_release(struct RowLog *log); // no thread reads the rows any more
// Marks a row as outdated: the next snapshot has another row or none for this
// function.
void RowLog_drop(struct RowLog *log, struct SharedRow *row, double uptime_s);
void RowLog_note_gone(struct RowLog *log, uint64_t id, double uptime_s);
// Begins a block for `rows` new rows. The valid rows of the replaced blocks are
// moved into the new block, and `moved` is called for each of them. Returns
// false if memory is out.
bool RowLog_begin(struct RowLog *log, const struct RowMoment *moment,
                  size_t rows,
                  void (*moved)(void *context, struct SharedRow *row),
                  void *context);
// Returns the next row of that block. All of the row is zero except for its
// block and its moment.
struct SharedRow *RowLog_add(struct RowLog *log);
// Ends the block. Returns the set of rows for the snapshot that is being built,
// in the memory of that snapshot. Returns NULL if memory is out.
struct RowSet *RowLog_end(struct RowLog *log, const struct RowMoment *moment,
                          struct Snapshot *snapshot);
// Drops all rows after memory ran out. The next snapshot must be sent as a
// whole.
void RowLog_fail(struct RowLog *log, double uptime_s);
// Called when no thread reads the snapshot before the newest any more. Frees
// the dead blocks except for one, which becomes `spare`.
void RowLog_reclaim(struct RowLog *log);
size_t RowLog_bytes(const struct RowLog *log);

#endif
