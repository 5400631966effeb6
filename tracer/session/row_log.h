// SPDX-License-Identifier: MIT
// The memory of the rows of published snapshots: blocks, each of the rows that
// changed for one snapshot. A snapshot has the blocks of those before as far as
// rows in them are still true. A block that is mostly outdated gives its other
// rows to the next one. Under Session.draining.
#ifndef OCULAR_TRACER_SESSION_ROW_LOG_H
#define OCULAR_TRACER_SESSION_ROW_LOG_H

#include "ipc/row_set.h"

struct RowLog {
    struct RowBlock *blocks[ROW_BLOCKS]; // the newest last
    size_t block_count;
    size_t count;                     // rows that are true
    struct RowBlock *begun;           // the next snapshot's, until RowLog_end
    const struct RowMoment *begun_at; // its rows' that are new
    const struct RowMoment *moved, *copy; // the moment of the newest one that
                                          // was moved, and where it is now
    struct RowBlock *dead;  // by `next`: a reader of the snapshot before the
                            // newest may be in them
    struct RowBlock *spare; // for the next one; or NULL
    double known_s;         // as in struct RowSet
    size_t gone_count;
    struct RowGone gone[ROWS_GONE]; // a ring
    size_t gone_next;
};

void RowLog_release(struct RowLog *log); // nobody reads any of it
// The next snapshot has another row in its place, or none.
void RowLog_drop(struct RowLog *log, struct SharedRow *row, double uptime_s);
void RowLog_note_gone(struct RowLog *log, uint64_t id, double uptime_s);
// A block for `rows` new rows, with those of the blocks that it replaces
// already in it. `moved` is called for each. false: memory is out.
bool RowLog_begin(struct RowLog *log, const struct RowMoment *moment,
                  size_t rows,
                  void (*moved)(void *context, struct SharedRow *row),
                  void *context);
// The next row of that block: all zero but for where it is, and when.
struct SharedRow *RowLog_add(struct RowLog *log);
// The block is whole: the set of the snapshot that is being built, in its
// memory. NULL: memory is out.
struct RowSet *RowLog_end(struct RowLog *log, const struct RowMoment *moment,
                          struct Snapshot *snapshot);
// There is no memory for the next snapshot: no row is known, and the one that
// comes instead has to be sent whole.
void RowLog_fail(struct RowLog *log, double uptime_s);
// Nobody reads the snapshot before the newest any more.
void RowLog_reclaim(struct RowLog *log);
size_t RowLog_bytes(const struct RowLog *log);

#endif
