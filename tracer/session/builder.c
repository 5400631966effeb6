// SPDX-License-Identifier: MIT
#include "tracer/session/builder.h"
#include "tracer/session/process_rows.h"
#include "tracer/session/retired_rows.h"
#include "tracer/session/session.h"
#include "tracer/session/total_rows.h"

static uint64_t memory_of(struct Session *session,
                          const struct Snapshot *snapshot,
                          const struct ThreadTotals *totals)
{
    return atomic_load_explicit(&session->engine->registry->bytes,
                                memory_order_relaxed) +
           sizeof *session->engine->registry + sizeof *session +
           session->retired.bytes + Names_bytes(&session->engine->names) +
           (session->timeline ? Timeline_bytes(session->timeline) : 0) +
           (session->engine->rearmed ? RING_EVENTS * sizeof(struct Event) : 0) +
           EventLoops_bytes(&session->engine->loops) +
           Exceptions_bytes(&session->engine->exceptions) + totals->bytes +
           ObjectBoard_bytes(&session->objects) + sizeof session->transitions +
           ListingRequests_bytes(&session->requests) +
           Transitions_bytes(&session->transitions) + Snapshot_bytes(snapshot) +
           Publish_bytes(&session->publish) + RowLog_bytes(&session->rows) +
           session->roll.room *
               (sizeof *session->roll.entries + sizeof *session->roll.due);
}

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
    snapshot->events = snapshot->memory_bytes = 0;
    ProcessRows_fill(snapshot, &at);
    Roll_fill(&session->roll, &session->rows, snapshot, &at);
    RetiredRows_fill(snapshot, &at);
    Transitions_fill(&session->transitions, snapshot);
    snapshot->memory_bytes += memory_of(session, snapshot, &totals);
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
