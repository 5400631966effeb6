// SPDX-License-Identifier: MIT
// See view_builder.h.
#include "tracer/timeline/view_builder.h"
#include "ipc/base/heap.h"

#include <errno.h>

struct View *View_new(size_t chunks, size_t threads)
{
    struct View *view = Heap_zeroed(1, sizeof *view);

    if (!view)
        return NULL;
    view->chunks = Heap_zeroed(chunks, sizeof *view->chunks);
    view->threads = Heap_zeroed(threads, sizeof *view->threads);
    // A pointer to a chunk is a pointer to what it shows, its first member.
    view->shown.chunks = (const struct TimelineChunk *const *)view->chunks;
    view->shown.threads = view->threads;
    if (view->chunks && view->threads)
        return view;
    TimelineView_free(&view->shown);
    return NULL;
}

void View_add_thread(struct View *view, const struct TimelineThread *thread)
{
    view->threads[view->shown.thread_count++] = *thread;
    view->shown.lost += thread->lost;
}

void View_add(struct View *view, struct Chunk *chunk)
{
    size_t count = chunk->shown.event_count;
    uint64_t first;

    view->chunks[view->shown.chunk_count++] = chunk;
    if (!count)
        return;
    first = Chunk_first_ticks(chunk);
    if (!view->shown.first_ticks || first < view->shown.first_ticks)
        view->shown.first_ticks = first;
    if (Chunk_last_ticks(chunk) > view->shown.last_ticks)
        view->shown.last_ticks = Chunk_last_ticks(chunk);
}

// 0 or -ENOMEM.
static int freeze_track(struct View *view, const struct Track *track)
{
    struct Chunk *chunk, *copy;

    View_add_thread(view, &track->shown);
    for (chunk = track->oldest;
         chunk && (chunk->next || Chunk_is_spilled(chunk));
         chunk = chunk->next) {
        Chunk_get(chunk);
        View_add(view, chunk);
    }
    if (!track->newest && !track->open_count)
        return 0;
    copy = Track_show_newest(track);
    if (!copy)
        return -ENOMEM;
    View_add(view, copy);
    return 0;
}

struct View *View_freeze(const struct Track *first, size_t tracks)
{
    const struct Track *track;
    size_t chunks = 1;
    struct View *view;
    int error = 0;

    for (track = first; track; track = track->next) {
        const struct Chunk *chunk;

        for (chunk = track->oldest; chunk; chunk = chunk->next)
            chunks++;
        chunks++; // open calls, all else forgotten or in the file
    }
    view = View_new(chunks, tracks + 1);
    for (track = first; view && !error && track; track = track->next)
        error = freeze_track(view, track);
    if (!error)
        return view;
    TimelineView_free(&view->shown);
    return NULL;
}

void TimelineView_free(struct TimelineView *shown)
{
    struct View *view = (struct View *)shown;
    size_t i;

    if (!view)
        return;
    for (i = 0; i < view->shown.chunk_count; i++)
        // NOLINTNEXTLINE(*-core.NullDereference): what is counted is there
        Chunk_put(view->chunks[i]);
    Heap_free(view->chunks);
    Heap_free(view->threads);
    Heap_free(view);
}
