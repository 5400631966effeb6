// SPDX-License-Identifier: MIT
// Hands a snapshot from the collector to its readers without a lock.
#include "tracer/publish.h"
#include "tracer/rcu.h"

void Publish_set(struct Publish *publish, struct Snapshot *snapshot)
{
    struct Snapshot *old = Rcu_exchange(&publish->newest, snapshot);

    if (!old)
        return;
    Rcu_synchronize();
    Snapshot_free(old);
}

const struct Snapshot *Publish_get(struct Publish *publish)
{
    Rcu_read_lock();
    return Rcu_dereference(&publish->newest);
}

void Publish_put(struct Publish *publish)
{
    (void)publish;
    Rcu_read_unlock();
}

struct Snapshot *Publish_take(struct Publish *publish)
{
    struct Snapshot *snapshot = Rcu_exchange(&publish->newest, NULL);

    Rcu_synchronize();
    return snapshot;
}
