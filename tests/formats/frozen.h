// SPDX-License-Identifier: MIT
// Helps tests to make a timeline in memory, and the TimelineView that a reader
// of the timeline's recording gets.
#pragma once

#include "formats/recording_reader.h"
#include "tracer/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>

static inline struct Timeline *Frozen_timeline(size_t limit)
{
    return Timeline_new(Recording_new_in_memory(), limit, false);
}

static inline bool Frozen_name(void *context, uint32_t id,
                               struct PerfettoName *name)
{
    (void)context, (void)id, (void)name;
    return false;
}

// Returns a view of all events that were added so far. The view is valid until
// RecordingReader_close.
static inline const struct TimelineView *Frozen_view(struct Timeline *timeline,
                                                     struct RecordingReader *to)
{
    static const struct RecordingSource nothing = {NULL, Frozen_name, NULL};
    static struct RecordingHead head = {.hz = 1e9};
    struct Recording *recording = Timeline_recording(timeline);
    char why[256];

    Timeline_cut(timeline, NULL, 0);
    Timeline_save_run(timeline, &head, &nothing);
    Recording_flush(recording, true);
    if (RecordingReader_read(to, recording, NULL, (struct RecordingWatch){0},
                             why, sizeof why) ||
        *why) {
        fprintf(stderr, "a recording cannot be read: %s\n", why);
        abort();
    }
    return &to->view;
}
