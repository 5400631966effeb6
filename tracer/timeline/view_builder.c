// SPDX-License-Identifier: MIT
// See view_builder.h.
#include "tracer/timeline/view_builder.h"
#include "ipc/base/heap.h"

#include <stdlib.h>

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

// Newest first.
static int compare_chunks(const void *a, const void *b)
{
    uint64_t left = Chunk_last_ticks(*(struct Chunk *const *)a);
    uint64_t right = Chunk_last_ticks(*(struct Chunk *const *)b);

    return left < right ? 1 : left > right ? -1 : 0;
}

// The newest tick of what goes, so that `part` of the events is newer.
static uint64_t cut_of(const struct View *view, double part)
{
    size_t count = view->shown.chunk_count, i;
    struct Chunk **sorted = Heap_alloc((count + 1) * sizeof *sorted);
    double total = 0, kept = 0;
    uint64_t cut = 0;

    if (!sorted)
        return 0;
    for (i = 0; i < count; i++) {
        sorted[i] = view->chunks[i];
        total += (double)sorted[i]->shown.event_count;
    }
    qsort(sorted, count, sizeof *sorted, compare_chunks);
    for (i = 0; i < count && kept < part * total; i++)
        kept += (double)sorted[i]->shown.event_count;
    if (i < count)
        cut = Chunk_last_ticks(sorted[i]);
    Heap_free(sorted);
    return cut;
}

static void forget_in_view(struct View *view, struct TimelineThread *thread,
                           struct Chunk *chunk)
{
    size_t count = chunk->shown.event_count;

    thread->forgotten += count;
    view->shown.forgotten += count;
    if (Chunk_last_ticks(chunk) > view->shown.whole_ticks)
        view->shown.whole_ticks = Chunk_last_ticks(chunk);
    Chunk_put(chunk);
}

void TimelineView_keep_newest(struct TimelineView *shown, double part)
{
    struct View *view = (struct View *)shown;
    struct TimelineThread *thread = view->threads;
    size_t count = shown->chunk_count, i;
    uint64_t cut = cut_of(view, part);

    shown->chunk_count = 0;
    shown->first_ticks = shown->last_ticks = 0;
    for (i = 0; i < count; i++) {
        struct Chunk *chunk = view->chunks[i];
        bool is_last = i + 1 == count ||
                       view->chunks[i + 1]->shown.thread != chunk->shown.thread;

        while (thread->number != chunk->shown.thread)
            thread++;
        if (is_last || Chunk_last_ticks(chunk) > cut)
            View_add(view, chunk);
        else
            forget_in_view(view, thread, chunk);
    }
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
