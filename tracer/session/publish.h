// SPDX-License-Identifier: MIT
// The newest snapshot, published through RCU: one thread sets it, and any
// thread may read it in a short read section. The snapshot before is kept, so
// that the next one can be built in its memory.
#ifndef OCULAR_TRACER_SESSION_PUBLISH_H
#define OCULAR_TRACER_SESSION_PUBLISH_H

#include "ipc/snapshot.h"

struct Publish {
    void *newest;           // struct Snapshot; only used through rcu.h
    struct Snapshot *spare; // has no readers; used by the setting thread
};

// Publishes a snapshot and takes ownership of it. NULL withdraws the newest
// snapshot and keeps no memory. Returns after a grace period. Only one thread
// at a time may call this, and never in a read section.
void Publish_set(struct Publish *publish, struct Snapshot *snapshot);
// Returns an empty snapshot to build the next one in, which the caller owns, or
// NULL if memory is out. The thread that sets snapshots calls this and the next
// two.
struct Snapshot *Publish_blank(struct Publish *publish);
// Returns the bytes held.
size_t Publish_bytes(struct Publish *publish);
// Frees the memory that is kept for the next snapshot.
void Publish_trim(struct Publish *publish);
// Returns the newest snapshot or NULL. Begins a read section that lasts until
// Publish_put.
const struct Snapshot *Publish_get(struct Publish *publish);
void Publish_put(struct Publish *publish);
// Withdraws the newest snapshot, which the caller owns from now on, and frees
// the kept memory.
struct Snapshot *Publish_take(struct Publish *publish);

#endif
