// SPDX-License-Identifier: MIT
#include "tracer/session/builder.h"
#include "ipc/base/heap.h"
#include "tracer/session/process_rows.h"
#include "tracer/session/retired_rows.h"
#include "tracer/session/session.h"
#include "tracer/session/total_rows.h"

static struct Snapshot *whole_or_none(struct Snapshot *snapshot)
{
    if (!snapshot->arena.failed)
        return snapshot;
    Snapshot_free(snapshot);
    return NULL;
}

struct Snapshot *Builder_snapshot(struct Session *session)
{
    struct ThreadTotals totals = ThreadTraces_sum(&session->engine->traces);
    struct Snapshot *snapshot = Publish_blank(&session->publish);
    struct ShareTime sampled;
    struct Moment at = ProcessRows_moment(session, &sampled);

    if (!snapshot)
        return NULL;
    snapshot->lost = totals.lost;
    snapshot->events = 0;
    ProcessRows_fill(snapshot, &at);
    Roll_fill(&session->roll, &session->rows, snapshot, &at);
    RetiredRows_fill(snapshot, &at);
    Transitions_fill(&session->transitions, snapshot);
    snapshot->memory_bytes = Heap_used();
    return whole_or_none(snapshot);
}

struct Snapshot *Builder_totals(struct Session *session)
{
    struct Snapshot *snapshot = Snapshot_new();
    struct ShareTime sampled;
    struct Moment at = ProcessRows_moment(session, &sampled);

    if (!snapshot)
        return NULL;
    Engine_look(session->engine);
    ProcessRows_fill(snapshot, &at);
    TotalRows_fill(snapshot, &at);
    return whole_or_none(snapshot);
}
