// SPDX-License-Identifier: MIT
// Makes views of a timeline: collects references to chunks, and lets go of
// them. The timeline fills one; then it is its reader's.
#ifndef OCULAR_TRACER_TIMELINE_VIEW_BUILDER_H
#define OCULAR_TRACER_TIMELINE_VIEW_BUILDER_H

#include "tracer/timeline/chunk.h"

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
// Forgets the oldest events of the view, and keeps about this part of them,
// 0..1, and each thread's newest chunk.
void TimelineView_keep_newest(struct TimelineView *view, double part);
void TimelineView_free(struct TimelineView *view);

#endif
