// SPDX-License-Identifier: MIT
// struct Publish has the newest snapshot, which it publishes through RCU. One
// thread sets the snapshot, and any thread may read it in a short read section
// of RCU. The snapshot before the newest one keeps its memory, in which the
// next snapshot is built.
#pragma once

#include "ipc/snapshot.h"

struct Publish {
    // The newest struct Snapshot, which is accessed only through rcu.h.
    void *newest;
    // A snapshot that no thread reads, kept for its memory. Only the thread
    // that sets snapshots uses `spare`.
    struct Snapshot *spare;
};

// Publishes a snapshot and takes over its ownership. If `snapshot` is NULL,
// takes back the newest snapshot and keeps no memory. Publish_set returns after
// a grace period of RCU. Publish_set must not be called in an RCU read section,
// nor by two threads at a time.
void Publish_set(struct Publish *publish, struct Snapshot *snapshot);
// Returns an empty snapshot in which the next one is built, or NULL if there is
// no memory. The caller owns the empty snapshot. Only the thread that sets
// snapshots calls Publish_blank and Publish_trim.
struct Snapshot *Publish_blank(struct Publish *publish);
// Frees the memory that is kept for the next snapshot.
void Publish_trim(struct Publish *publish);
// Begins an RCU read section that lasts until Publish_put. Returns the newest
// snapshot, or NULL.
const struct Snapshot *Publish_get(struct Publish *publish);
void Publish_put(struct Publish *publish);
// Takes back the newest snapshot and gives it to the caller. Publish_take also
// frees the memory that is kept for the next snapshot.
struct Snapshot *Publish_take(struct Publish *publish);
