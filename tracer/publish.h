// SPDX-License-Identifier: MIT
// The newest snapshot, published through RCU: one thread sets it, any thread
// gets it for a short read section.
#ifndef OCULAR_TRACER_PUBLISH_H
#define OCULAR_TRACER_PUBLISH_H

#include "ipc/snapshot.h"

struct Publish {
    void *newest; // struct Snapshot; only through rcu.h
};

// Takes ownership of snapshot (NULL: none any more); frees the one before it
// after a grace period. One thread at a time, never in a read section.
void Publish_set(struct Publish *publish, struct Snapshot *snapshot);
// The newest, or NULL; the read section it opens lasts until Publish_put.
const struct Snapshot *Publish_get(struct Publish *publish);
void Publish_put(struct Publish *publish);
// Takes the newest away from its readers; the caller's from now on.
struct Snapshot *Publish_take(struct Publish *publish);

#endif
