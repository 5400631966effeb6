// SPDX-License-Identifier: MIT
// The newest snapshot, published through RCU: one thread sets it, any thread
// gets it for a short read section. The one before is kept, for the next to be
// built in its memory.
#ifndef OCULAR_TRACER_SESSION_PUBLISH_H
#define OCULAR_TRACER_SESSION_PUBLISH_H

#include "ipc/snapshot.h"

struct Publish {
    void *newest;           // struct Snapshot; only through rcu.h
    struct Snapshot *spare; // nobody reads it; of the thread that sets
};

// Takes ownership of snapshot (NULL: none any more, and none is kept); returns
// after a grace period. One thread at a time, never in a read section.
void Publish_set(struct Publish *publish, struct Snapshot *snapshot);
// An empty one to build the next in, the caller's. NULL when memory is out. The
// thread that sets, as the next.
struct Snapshot *Publish_blank(struct Publish *publish);
// Bytes held, for memory accounts. The thread that sets.
size_t Publish_bytes(struct Publish *publish);
// Nothing has been set for a while: frees the memory that was kept for that.
void Publish_trim(struct Publish *publish);
// The newest, or NULL; the read section it opens lasts until Publish_put.
const struct Snapshot *Publish_get(struct Publish *publish);
void Publish_put(struct Publish *publish);
// Takes the newest away from its readers; the caller's from now on. None is
// kept.
struct Snapshot *Publish_take(struct Publish *publish);

#endif
