// SPDX-License-Identifier: MIT
#include "formats/run_facts.h"

static const struct FilterRule *
copy_rules(struct Snapshot *out, const struct FilterRule *from, size_t *count)
{
    struct FilterRule *rules =
        Snapshot_alloc(out, (*count + 1) * sizeof *rules);
    size_t i;

    if (!rules)
        *count = 0;
    for (i = 0; i < *count; i++)
        rules[i].text = Snapshot_text(out, from[i].text);
    return rules;
}

static void fill_settings(struct Snapshot *out, const struct Snapshot *settings)
{
    out->version = Snapshot_text(out, settings->version);
    out->chosen = Snapshot_text(out, settings->chosen);
    out->overhead_budget = settings->overhead_budget;
    out->filter_exclude_count = settings->filter_exclude_count;
    out->filter_exclude =
        copy_rules(out, settings->filter_exclude, &out->filter_exclude_count);
    out->filter_include_only_count = settings->filter_include_only_count;
    out->filter_include_only = copy_rules(out, settings->filter_include_only,
                                          &out->filter_include_only_count);
}

void RunFacts_fill(struct Snapshot *out, const struct RecordingReader *reader)
{
    const struct PerfettoTrace *trace = &reader->trace;

    out->schema = SNAPSHOT_SCHEMA;
    out->pid = (uint64_t)trace->pid;
    out->command = Snapshot_text(out, trace->command);
    out->python = Snapshot_text(out, trace->python);
    out->mode = Snapshot_text(out, trace->mode);
    out->threshold = trace->threshold;
    out->tsc_hz = trace->hz;
    if (trace->settings)
        fill_settings(out, trace->settings);
}
