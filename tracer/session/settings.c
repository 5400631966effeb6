// SPDX-License-Identifier: MIT
#include "tracer/session/settings.h"
#include "ipc/version.h"
#include "tracer/base/filter.h"

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
