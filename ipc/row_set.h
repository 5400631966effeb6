// SPDX-License-Identifier: MIT
// The functions of a snapshot that shares them with the snapshots around it:
// rows in blocks, filled once and not changed any more. Numbers that change by
// themselves are as of when their row was filled, and follow from that for any
// later moment. tracer/session/row_log.c makes and frees blocks; any thread
// reads while the snapshot is there.
#ifndef OCULAR_IPC_ROW_SET_H
#define OCULAR_IPC_ROW_SET_H

#include "ipc/changes.h"

#include <stdatomic.h>

#define ROW_BLOCKS 16 // that a snapshot has, at most
#define ROWS_GONE 256 // newest ids that are known to have gone

// A moment for which the numbers of a row hold.
struct RowMoment {
    double uptime_s; // of the snapshot, and its name
    double ticks_s;  // by the counter; ages are by it
    double
        window_age;   // the sampler's: mean ages of the window since its start,
    double window_ns; // what a core has in the window,
    double run_ns;    // ... and since the sampler's start; 0: none
};

struct SharedRow {
    struct Function function;
    const struct RowMoment *moment; // in its block's memory
    // uptime_s of the newest snapshot without it, INFINITY: none. Set for the
    // next snapshot while this one is read.
    _Atomic double until;
    // The writer's:
    struct RowBlock *block;
    uint32_t slot;
    uint64_t events;
    uint64_t bytes;
};

struct RowBlock {
    struct SharedRow *rows;
    size_t count;
    double newest_s; // uptime_s of the newest moment
    // The writer's:
    struct Arena arena; // of rows and what they point to
    size_t live;        // rows that the newest snapshot has
    struct RowBlock *next;
};

struct RowGone {
    double uptime_s; // of the first snapshot without it
    uint64_t id;
};

struct RowSet {
    struct RowMoment moment; // the snapshot's
    size_t count;            // rows
    size_t block_count;
    const struct RowBlock *blocks[ROW_BLOCKS];
    double known_s; // uptime_s of the oldest snapshot since which all that has
                    // gone is in the list
    size_t gone_count;
    struct RowGone gone[ROWS_GONE];
};

// How the numbers of a row change by themselves from one moment to another.
struct Fading Fading_between(const struct RowMoment *from,
                             const struct RowMoment *to);

// A copy of `shared` with all its functions, the hottest first. It points
// into out->arena, which is the caller's before and after, and into `shared`.
// 0 or -ENOMEM.
int RowSet_whole(const struct Snapshot *shared, struct Snapshot *out);
// The same with those functions alone that have changed since `base`, and what
// to do with the others. -ESTALE: not all of that is known. Release
// changes->arena.
int RowSet_changes(const struct Snapshot *shared, const struct RowMoment *base,
                   struct Snapshot *out, struct Changes *changes);
// Gives a snapshot that nobody else reads all its functions: it shares nothing
// from then on. 0 or -ENOMEM.
int RowSet_settle(struct Snapshot *snapshot);

#endif
