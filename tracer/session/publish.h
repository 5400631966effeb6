// SPDX-License-Identifier: MIT
// Publishes the newest snapshot through RCU. One thread sets the snapshot, and
// any thread may read it in a short read section. The memory of the snapshot
// before the newest is kept, so that the next snapshot can be built in it.
#ifndef OCULAR_TRACER_SESSION_PUBLISH_H
#define OCULAR_TRACER_SESSION_PUBLISH_H

#include "ipc/snapshot.h"

struct Publish {
    void *newest; // a struct Snapshot, which is accessed only through rcu.h
    // a snapshot without readers; only the setting thread uses it
    struct Snapshot *spare;
};

// Publishes a snapshot and takes ownership of it. NULL withdraws the newest
// snapshot and keeps no memory. Returns after a grace period. Must not be
// called in a read section, nor by two threads at a time.
void Publish_set(struct Publish *publish, struct Snapshot *snapshot);
// Returns an empty snapshot in which the next snapshot is built, or NULL if
// memory is out. The caller owns the snapshot. The thread that sets snapshots
// calls this function and the next two functions.
struct Snapshot *Publish_blank(struct Publish *publish);
// Returns the number of bytes of memory in use.
size_t Publish_bytes(struct Publish *publish);
// Frees the memory that is kept for the next snapshot.
void Publish_trim(struct Publish *publish);
// Returns the newest snapshot, or NULL. Begins a read section that lasts until
// Publish_put.
const struct Snapshot *Publish_get(struct Publish *publish);
void Publish_put(struct Publish *publish);
// Withdraws the newest snapshot and gives it to the caller. Frees the kept
// memory.
struct Snapshot *Publish_take(struct Publish *publish);

#endif
