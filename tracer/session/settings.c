// SPDX-License-Identifier: MIT
#include "tracer/session/settings.h"
#include "ipc/version.h"
#include "tracer/base/filter.h"

#include <string.h>

// The names of the events, in the order of the bits of enum Chosen.
static const char *const EVENTS[] = {"call",   "c_call", "exception", "line",
                                     "branch", "opcode", "reference"};
#define EVENT_COUNT (sizeof EVENTS / sizeof *EVENTS)

unsigned Settings_events(const char *text)
{
    unsigned bits = 0;
    size_t i, length;

    for (; *text; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        for (i = 0; i < EVENT_COUNT; i++)
            if (strlen(EVENTS[i]) == length &&
                strncmp(EVENTS[i], text, length) == 0)
                bits |= 1u << i;
    }
    return bits;
}

// Returns the names of the chosen events.
static const char *event_names(struct Snapshot *snapshot, unsigned events)
{
    char text[96] = "";
    size_t i;

    for (i = 0; i < EVENT_COUNT; i++)
        if (events >> i & 1) {
            strcat(text, *text ? "," : "");
            strcat(text, EVENTS[i]);
        }
    return Snapshot_text(snapshot, text);
}

static const struct FilterRule *copy_rules(struct Snapshot *snapshot,
                                           char *const *texts, size_t count)
{
    struct FilterRule *rules =
        Snapshot_alloc(snapshot, (count + 1) * sizeof *rules);
    size_t i;

    for (i = 0; rules && i < count; i++)
        rules[i].text = Snapshot_text(snapshot, texts[i]);
    return rules;
}

void Settings_fill(struct Snapshot *snapshot, const struct Session *session)
{
    const struct Filter *filter = session->config.filter;

    snapshot->version = OCULAR_VERSION;
    snapshot->mode = Snapshot_text(snapshot, session->config.mode);
    snapshot->threshold = session->config.threshold;
    snapshot->chosen = event_names(snapshot, session->config.events);
    if (!filter)
        return;
    snapshot->filter_exclude =
        copy_rules(snapshot, filter->exclude, filter->exclude_count);
    snapshot->filter_include_only =
        copy_rules(snapshot, filter->include, filter->include_count);
    snapshot->filter_exclude_count = filter->exclude_count;
    snapshot->filter_include_only_count = filter->include_count;
}
