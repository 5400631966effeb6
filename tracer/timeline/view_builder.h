// SPDX-License-Identifier: MIT
// Makes views of a timeline: collects references to chunks, and lets go of
// them. The timeline fills one; then it is its reader's.
#ifndef OCULAR_TRACER_TIMELINE_VIEW_BUILDER_H
#define OCULAR_TRACER_TIMELINE_VIEW_BUILDER_H

#include "tracer/timeline/track.h"

struct View {
    struct TimelineView shown;
    struct Chunk **chunks;
    struct TimelineThread *threads;
};

// Empty, with room for so many. NULL: memory.
struct View *View_new(size_t chunks, size_t threads);
void View_add_thread(struct View *view, const struct TimelineThread *thread);
// Of the thread that was added last. The reference is the view's from now on.
void View_add(struct View *view, struct Chunk *chunk);
// A view of so many tracks, with the gaps that are not marked yet. NULL:
// memory is out.
struct View *View_freeze(const struct Track *first, size_t tracks);
void TimelineView_free(struct TimelineView *view);

#endif
