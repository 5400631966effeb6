// SPDX-License-Identifier: MIT
// The functions of a snapshot, in rows that several snapshots share. A row lies
// in a block, is filled once and never changes after that. Some numbers change
// even if their function does not run. A row has these numbers as of the moment
// when it was filled; later values are computed. tracer/session/row_log.c makes
// and frees the blocks. Any thread may read the rows while it holds the
// snapshot.
#ifndef OCULAR_IPC_ROW_SET_H
#define OCULAR_IPC_ROW_SET_H

#include "ipc/changes.h"

#include <stdatomic.h>

#define ROW_BLOCKS 16 // maximum number of blocks of a snapshot
#define ROWS_GONE 256 // maximum number of removed ids that are kept

// A moment for which the numbers of a row hold.
struct RowMoment {
    double uptime_s; // of the snapshot, as its identity
    double ticks_s;  // s by the CPU's counter, for ages
    // Time since the sampler's start, in mean ages of its window.
    double window_age;
    double window_ns; // time that one core has in the window
    double run_ns;    // time since the sampler's start; 0: no sampler
};

struct SharedRow {
    struct Function function;
    const struct RowMoment *moment; // lies in the memory of the block
    // uptime_s of the first snapshot that lacks the row; INFINITY: no snapshot
    // does. The writer sets `until` for its next snapshot while other threads
    // read older ones.
    _Atomic double until;
    // The writer alone uses the members below:
    struct RowBlock *block;
    uint32_t slot;
    uint64_t events;
    uint64_t bytes;
};

struct RowBlock {
    struct SharedRow *rows;
    size_t count;
    double newest_s; // uptime_s of the newest moment of a row
    // The writer alone uses the members below:
    struct Arena arena; // holds the rows and what they point to
    size_t live;        // rows that are in the newest snapshot
    struct RowBlock *next;
};

struct RowGone {
    double uptime_s; // of the first snapshot without this id
    uint64_t id;
};

struct RowSet {
    struct RowMoment moment; // of the snapshot
    size_t count;            // number of rows
    size_t block_count;
    const struct RowBlock *blocks[ROW_BLOCKS];
    // uptime_s of the oldest snapshot since which `gone` has all removed ids.
    double known_s;
    size_t gone_count;
    struct RowGone gone[ROWS_GONE];
};

// Returns how the numbers of a row change between two moments while the
// function does not run.
struct Fading Fading_between(const struct RowMoment *from,
                             const struct RowMoment *to);

// Makes *out a copy of `shared` with all functions, the hottest first. The copy
// points into out->arena, which the caller owns, and into `shared`. Returns 0
// or -ENOMEM.
int RowSet_whole(const struct Snapshot *shared, struct Snapshot *out);
// Makes *out a copy of `shared` with only the functions that have changed since
// `base`. *changes says how all others have changed; the caller releases
// changes->arena. Returns 0 or -errno; -ESTALE means that not all changes since
// `base` are known.
int RowSet_changes(const struct Snapshot *shared, const struct RowMoment *base,
                   struct Snapshot *out, struct Changes *changes);
// Gives a snapshot that nobody else reads a copy of all its functions, so that
// it shares no rows any more. Returns 0 or -ENOMEM.
int RowSet_settle(struct Snapshot *snapshot);

#endif
