// SPDX-License-Identifier: MIT
#include "tracer/session/publish.h"
#include "tracer/base/rcu.h"

void Publish_set(struct Publish *publish, struct Snapshot *snapshot)
{
    struct Snapshot *old = Rcu_exchange(&publish->newest, snapshot);

    if (old)
        Rcu_synchronize();
    Publish_trim(publish);
    if (snapshot)
        publish->spare = old;
    else
        Snapshot_free(old);
}

struct Snapshot *Publish_blank(struct Publish *publish)
{
    struct Snapshot *spare = publish->spare;

    publish->spare = NULL;
    if (!spare)
        return Snapshot_new();
    Snapshot_renew(spare);
    return spare;
}

void Publish_trim(struct Publish *publish)
{
    Snapshot_free(publish->spare);
    publish->spare = NULL;
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
    Publish_trim(publish);
    return snapshot;
}
