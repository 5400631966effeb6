// SPDX-License-Identifier: MIT
#include "tracer/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define REFUSED                                                                \
    "this process may not read its own memory without the risk of a crash "    \
    "(process_vm_readv and /proc/self/mem are refused): "
#define REFRESH_MS 2000

int Session_set_budget(struct Session *session, double budget)
{
    if (isnan(session->config.budget))
        return -ENOTSUP;
    if (!(budget > 0 && budget <= 1))
        return -EINVAL;
    // This store pairs with the loads of the governor's thread and of the
    // builder.
    atomic_store_explicit(&session->budget, budget, memory_order_relaxed);
    return 0;
}

// Largest result of Session_second_hits, even if the threshold is higher.
#define SECOND_HITS 2000

uint64_t Session_second_hits(const struct Session *session)
{
    double budget =
        atomic_load_explicit(&session->budget, memory_order_relaxed);
    uint64_t threshold = session->config.threshold;

    if (isnan(budget))
        return 0;
    return threshold < SECOND_HITS ? threshold : SECOND_HITS;
}

const char *Session_sampler_trouble(const struct Session *session)
{
    if (session->sampler_refused)
        return REFUSED "no shares of time, the hooks' figures alone";
    if (session->sampler && Sampler_is_denied(session->sampler))
        return REFUSED
            "shares of time end where that began, "
            "the hooks' figures go on";
    return NULL;
}

void Session_describe_missing(const struct Session *session, char *out,
                              size_t size)
{
    const struct Config *config = &session->config;
    uint64_t count = 0;
    int why = session->recording_error;

    *out = '\0';
    if (session->timeline)
        count = Timeline_forgotten(session->timeline);
    if (session->timeline && !why)
        why = Recording_error(Timeline_recording(session->timeline));
    if (count && *config->spill && session->config.timeline)
        snprintf(out, size,
                 "%" PRIu64
                 " events of the timeline are lost: the recording in %s "
                 "(timeline_spill) could not grow: %s",
                 count, config->spill,
                 why ? strerror(-why)
                     : "its list of blocks was full (timeline_limit)");
    else if (why)
        snprintf(out, size,
                 "the recording, which a killed program leaves, could not be "
                 "written: %s",
                 strerror(-why));
}

double Session_age_s(const struct Session *session)
{
    const struct Clock *clock = &session->engine->clock;

    return Clock_seconds(clock, Clock_read(clock)) -
           Clock_seconds(clock, session->start_ticks);
}

int Session_refresh(struct Session *session)
{
    return Collector_wait(&session->collector, REFRESH_MS);
}

struct Snapshot *Session_take(struct Session *session)
{
    struct Snapshot *snapshot = Publish_take(&session->publish);

    if (!snapshot || RowSet_settle(snapshot) == 0)
        return snapshot;
    // NULL if there was no memory for the final snapshot.
    Snapshot_free(snapshot);
    return NULL;
}
