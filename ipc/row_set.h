// SPDX-License-Identifier: MIT
// struct RowSet contains the functions of a snapshot in rows. Several snapshots
// share the same rows. A row lies in a block of memory. A row is filled once
// and never changes after that. Some numbers of a function change even if it
// does not run. For a number that changes by itself, a reader of the row
// computes the present value from the value at the time when the row was
// filled. tracer/session/row_log.c makes and frees the blocks. Any thread that
// holds a snapshot may read the snapshot's rows.
#pragma once

#include "ipc/changes.h"

#include <stdatomic.h>

// Maximum number of blocks that contain the rows of a snapshot.
#define ROW_BLOCKS 16
// Maximum number of removed functions whose ids are kept.
#define ROWS_GONE 256

// The time at which a snapshot was made, by several clocks. Each row has a
// RowMoment, which is the time at which the numbers of the row were right.
struct RowMoment {
    // uptime_s of the snapshot. Two snapshots never have the same uptime_s.
    double uptime_s;
    // The time of the snapshot by the CPU's time stamp counter, in seconds.
    // age_s is computed from ticks_s.
    double ticks_s;
    // Time since the sampler's start. The unit of window_age is the mean age of
    // the samples from which shares are computed.
    double window_age;
    // Time in ns over which shares are computed, as wall time of one core.
    double window_ns;
    double run_ns; // ns since the sampler's start; 0 if there is no sampler.
};

struct SharedRow {
    struct Function function;
    // Time at which the row was filled. The RowMoment lies in the memory of the
    // row's block.
    const struct RowMoment *moment;
    // uptime_s of the first snapshot that lacks the row, or INFINITY if the
    // newest snapshot has it. The thread that builds a new snapshot sets
    // `until` while other threads read older snapshots.
    _Atomic double until;
    // The members from `block` on are only for the thread that fills rows.
    struct RowBlock *block;
    uint32_t slot;
    uint64_t events;
};

struct RowBlock {
    struct SharedRow *rows;
    size_t count;
    // Snapshot.uptime_s of the snapshot for which the block's newest row was
    // filled.
    double newest_s;
    // The members from `arena` on are only for the thread that fills rows.
    // Memory of the block's rows and of their texts and lists.
    struct Arena arena;
    // Number of the block's rows that belong to the newest snapshot.
    size_t live;
    struct RowBlock *next;
};

struct RowGone {
    // uptime_s of the first snapshot that lacks the function with this id.
    double uptime_s;
    uint64_t id;
};

struct RowSet {
    struct RowMoment moment; // Time of the snapshot to which the set belongs.
    size_t count;            // Number of rows in the set.
    size_t block_count;
    const struct RowBlock *blocks[ROW_BLOCKS];
    // The array `gone` contains the ids of all functions that were removed
    // after the snapshot with the uptime_s `known_s`.
    double known_s;
    size_t gone_count;
    struct RowGone gone[ROWS_GONE];
};

// Returns how the numbers of a row change between two times if its function
// does not run.
struct Fading Fading_between(const struct RowMoment *from,
                             const struct RowMoment *to);

// Sets *out to a copy of `shared` with all functions, sorted by
// FunctionOrder_sort(). The copy points into `shared` and into out->arena,
// which the caller owns. Returns 0 or -ENOMEM.
int RowSet_whole(const struct Snapshot *shared, struct Snapshot *out);
// Sets *out to a copy of `shared` with only the functions that have changed
// since `base`. *changes says how all other functions have changed. The caller
// must release changes->arena. Returns 0 or -errno. -ESTALE means that not all
// changes since `base` are known.
int RowSet_changes(const struct Snapshot *shared, const struct RowMoment *base,
                   struct Snapshot *out, struct Changes *changes);
// Copies all functions of a snapshot into the snapshot's own memory. After
// RowSet_settle the snapshot shares no rows with other snapshots. No other
// thread may read the snapshot during this call. Returns 0 or -ENOMEM.
int RowSet_settle(struct Snapshot *snapshot);
