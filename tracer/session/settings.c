// SPDX-License-Identifier: MIT
#include "tracer/session/settings.h"
#include "ipc/version.h"
#include "ipc/wire.h"
#include "tracer/base/filter.h"

#include <math.h>

static const struct FilterRule *copy_rules(struct Snapshot *snapshot,
                                           char *const *texts, size_t count)
{
    struct FilterRule *rules =
        Snapshot_alloc(snapshot, (count + 1) * sizeof *rules);
    size_t i;

    for (i = 0; rules && i < count; i++) {
        rules[i].text = Snapshot_text(snapshot, texts[i]);
        if (!rules[i].text)
            return NULL;
    }
    return rules;
}

bool Settings_fill(struct Snapshot *snapshot, const struct Session *session)
{
    const struct Filter *filter = session->config.filter;

    snapshot->version = OCULAR_VERSION;
    snapshot->mode = Snapshot_text(snapshot, session->config.mode);
    snapshot->threshold = session->config.threshold;
    if (!filter)
        return snapshot->mode;
    snapshot->filter_exclude =
        copy_rules(snapshot, filter->exclude, filter->exclude_count);
    snapshot->filter_include_only =
        copy_rules(snapshot, filter->include, filter->include_count);
    if (!snapshot->filter_exclude || !snapshot->filter_include_only)
        return false;
    snapshot->filter_exclude_count = filter->exclude_count;
    snapshot->filter_include_only_count = filter->include_count;
    return snapshot->mode;
}

void Settings_record(struct Session *session)
{
    double budget =
        atomic_load_explicit(&session->budget, memory_order_relaxed);
    struct Snapshot *snapshot;
    struct Message message = {.type = MESSAGE_SNAPSHOT};
    struct Bytes bytes;

    // A session without a budget, for which the budget is NaN, never gets one.
    if (session->settings_recorded &&
        (isnan(budget) || budget == session->recorded_budget))
        return;
    snapshot = message.snapshot = Snapshot_new();
    if (!snapshot)
        return;
    Bytes_init(&bytes);
    snapshot->overhead_budget = budget;
    if (Settings_fill(snapshot, session) &&
        Message_encode(&bytes, &message) == 0)
        session->settings_recorded =
            Timeline_set_settings(session->timeline, &bytes) == 0;
    session->recorded_budget = budget;
    Bytes_release(&bytes);
    Snapshot_free(snapshot);
}
