// SPDX-License-Identifier: MIT
// struct RowSet has the functions of a snapshot, in rows that several snapshots
// share. A row lies in a block, is filled once and never changes after that.
// Some numbers change even if the function does not run. The row has the values
// of these numbers at the moment of filling, and the reader computes later
// values. tracer/session/row_log.c makes and frees the blocks. Any thread that
// holds a snapshot may read the snapshot's rows.
#ifndef OCULAR_IPC_ROW_SET_H
#define OCULAR_IPC_ROW_SET_H

#include "ipc/changes.h"

#include <stdatomic.h>

#define ROW_BLOCKS 16 // maximum number of blocks of a snapshot
#define ROWS_GONE 256 // maximum number of removed ids that are kept

// Describes a moment to which the numbers of a row apply.
struct RowMoment {
    double uptime_s; // of the snapshot, which uptime_s identifies
    double ticks_s;  // seconds by the CPU's counter, for computing age_s
    // Time since the sampler's start, in units of the mean age of the window's
    // samples.
    double window_age;
    double window_ns; // wall time of one core in the window
    double run_ns;    // time since the sampler's start; 0: no sampler
};

struct SharedRow {
    struct Function function;
    const struct RowMoment *moment; // lies in the memory of the block
    // uptime_s of the first snapshot that lacks the row. INFINITY: the newest
    // snapshot has the row. The writer sets `until` while it builds a new
    // snapshot, and other threads read older snapshots.
    _Atomic double until;
    // Only the writer uses the next members:
    struct RowBlock *block;
    uint32_t slot;
    uint32_t bytes;
    uint64_t events;
};

struct RowBlock {
    struct SharedRow *rows;
    size_t count;
    double newest_s; // uptime_s of the newest moment among the rows
    // Only the writer uses the next members:
    struct Arena arena; // holds the rows and their texts and lists
    size_t live;        // number of rows that are in the newest snapshot
    struct RowBlock *next;
};

struct RowGone {
    double uptime_s; // uptime_s of the first snapshot without this id
    uint64_t id;
};

struct RowSet {
    struct RowMoment moment; // of the snapshot
    size_t count;            // number of rows
    size_t block_count;
    const struct RowBlock *blocks[ROW_BLOCKS];
    // `gone` has all ids that were removed after the snapshot with this
    // uptime_s.
    double known_s;
    size_t gone_count;
    struct RowGone gone[ROWS_GONE];
};

// Returns how the numbers of a row change between two moments while the
// function does not run.
struct Fading Fading_between(const struct RowMoment *from,
                             const struct RowMoment *to);

// Makes *out a copy of `shared` with all functions, sorted by
// FunctionOrder_sort(). The copy points into out->arena, which the caller owns,
// and into `shared`. Returns 0 or -ENOMEM.
int RowSet_whole(const struct Snapshot *shared, struct Snapshot *out);
// Makes *out a copy of `shared` with only the functions that have changed since
// `base`. *changes says how all other functions have changed. The caller
// releases changes->arena. Returns 0 or -errno; -ESTALE means that not all
// changes since `base` are known.
int RowSet_changes(const struct Snapshot *shared, const struct RowMoment *base,
                   struct Snapshot *out, struct Changes *changes);
// Copies all functions of a snapshot, so that the snapshot shares no rows any
// more. No other thread may read the snapshot during this call. Returns 0 or
// -ENOMEM.
int RowSet_settle(struct Snapshot *snapshot);

#endif
