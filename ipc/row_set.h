// SPDX-License-Identifier: MIT
// struct RowSet has the functions of a snapshot, in rows that several snapshots
// share. A row lies in a block of memory, is filled once and never changes
// after that. Some numbers of a function change even if it does not run. A
// reader of a row computes the present values of such numbers from their values
// at the time when the row was filled. tracer/session/row_log.c makes and frees
// the blocks. Any thread that holds a snapshot may read the snapshot's rows.
#pragma once

#include "ipc/changes.h"

#include <stdatomic.h>

// Maximum number of blocks that have the rows of a snapshot.
#define ROW_BLOCKS 16
// Maximum number of ids of removed functions that are kept.
#define ROWS_GONE 256

// The time of a snapshot, by several clocks. The numbers of a row are the
// numbers at one struct RowMoment.
struct RowMoment {
    double uptime_s; // uptime_s of the snapshot, which identifies the snapshot.
    // Seconds by the CPU's time stamp counter, from which age_s is computed.
    double ticks_s;
    // Time since the sampler's start, in units of the mean age of the samples
    // from which shares are computed.
    double window_age;
    // ns of one core's wall time in the newest seconds over which shares are
    // computed.
    double window_ns;
    double run_ns; // ns since the sampler's start; 0 if there is no sampler.
};

struct SharedRow {
    struct Function function;
    // Time at which the row was filled, in the memory of the row's block.
    const struct RowMoment *moment;
    // uptime_s of the first snapshot that lacks the row, or INFINITY if the
    // newest snapshot has it. The writer sets `until` while it builds a new
    // snapshot, and other threads read older snapshots.
    _Atomic double until;
    // Only the thread that fills rows uses the members from `block` on.
    struct RowBlock *block;
    uint32_t slot;
    uint32_t bytes;
    uint64_t events;
};

struct RowBlock {
    struct SharedRow *rows;
    size_t count;
    // Snapshot.uptime_s of the snapshot for which the block's newest row was
    // filled.
    double newest_s;
    // Only the thread that fills rows uses the members from `arena` on.
    struct Arena arena; // Holds the block's rows with their texts and lists.
    size_t live; // Number of the block's rows that are in the newest snapshot.
    struct RowBlock *next;
};

struct RowGone {
    // uptime_s of the first snapshot that lacks the function with this id.
    double uptime_s;
    uint64_t id;
};

struct RowSet {
    struct RowMoment moment; // Moment of the snapshot to which the set belongs.
    size_t count;            // Number of rows in the set.
    size_t block_count;
    const struct RowBlock *blocks[ROW_BLOCKS];
    // The array `gone` has the ids of all functions that were removed after the
    // snapshot whose uptime_s is known_s.
    double known_s;
    size_t gone_count;
    struct RowGone gone[ROWS_GONE];
};

// Returns how the numbers of a row change between two moments, if the function
// does not run.
struct Fading Fading_between(const struct RowMoment *from,
                             const struct RowMoment *to);

// Makes *out a copy of `shared` with all functions, sorted by
// FunctionOrder_sort(). The copy points into `shared` and into out->arena,
// which the caller owns. Returns 0 or -ENOMEM.
int RowSet_whole(const struct Snapshot *shared, struct Snapshot *out);
// Makes *out a copy of `shared` with only the functions that have changed since
// `base`. *changes says how all other functions have changed. The caller must
// release changes->arena. Returns 0 or -errno. -ESTALE means that not all
// changes since `base` are known.
int RowSet_changes(const struct Snapshot *shared, const struct RowMoment *base,
                   struct Snapshot *out, struct Changes *changes);
// Copies all functions of a snapshot into the snapshot's own memory, so that
// the snapshot shares no rows any more. No other thread may read the snapshot
// during this call. Returns 0 or -ENOMEM.
int RowSet_settle(struct Snapshot *snapshot);
