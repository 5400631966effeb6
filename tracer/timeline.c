// SPDX-License-Identifier: MIT
// Lanes of chunks under one mutex. A full chunk never changes again and is
// shared, by reference count, with the views that hold it; the chunk that a
// lane still fills is copied into each view.
#include "tracer/timeline.h"
#include "tracer/chunk.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_EVENTS 64u // a lane begins small: most threads say little

struct Track { // one thread's
    struct TimelineLane shown;
    struct Chunk *oldest;
    struct Chunk *newest; // being filled
    struct OpenCall *open;
    size_t open_count;
    size_t open_room;
    uint64_t ring_lost; // the ring's own count, when last drained
    uint64_t marked;    // of these, by EVENT_LOST events
    uint64_t dropped;   // by us, memory being out
};

struct Timeline {
    pthread_mutex_t mutex;
    size_t limit;
    size_t bytes;
    uint64_t forgotten;
    uint64_t whole_ticks; // newest forgotten event
    struct Track **lanes; // by number; holes are NULL
    size_t lane_count;
};

struct View {
    struct TimelineView shown;
    struct Chunk **chunks;
    struct TimelineLane *lanes;
};

struct Timeline *Timeline_new(size_t limit_bytes)
{
    struct Timeline *timeline = calloc(1, sizeof *timeline);

    if (!timeline)
        return NULL;
    timeline->limit = limit_bytes;
    pthread_mutex_init(&timeline->mutex, NULL);
    return timeline;
}

static void free_track(struct Track *track)
{
    if (!track)
        return;
    while (track->oldest) {
        struct Chunk *next = track->oldest->next;

        Chunk_put(track->oldest);
        track->oldest = next;
    }
    free(track->open);
    free(track);
}

void Timeline_free(struct Timeline *timeline)
{
    size_t i;

    if (!timeline)
        return;
    for (i = 0; i < timeline->lane_count; i++)
        free_track(timeline->lanes[i]);
    free(timeline->lanes);
    pthread_mutex_destroy(&timeline->mutex);
    free(timeline);
}

// The lane of that number, made if it is new; NULL when memory is out.
static struct Track *find_track(struct Timeline *timeline, unsigned number)
{
    struct Track **lanes = timeline->lanes;

    if (number >= timeline->lane_count) {
        size_t count = (size_t)number + 1, old = timeline->lane_count;

        lanes = realloc(lanes, count * sizeof *lanes);
        if (!lanes)
            return NULL;
        memset(lanes + old, 0, (count - old) * sizeof *lanes);
        timeline->lanes = lanes;
        timeline->lane_count = count;
    }
    if (!lanes[number]) {
        lanes[number] = calloc(1, sizeof **lanes);
        if (lanes[number])
            lanes[number]->shown.lane = number;
    }
    return lanes[number];
}

int Timeline_lane(struct Timeline *timeline, unsigned number, pid_t tid,
                  const char *name)
{
    struct Track *track;

    pthread_mutex_lock(&timeline->mutex);
    track = find_track(timeline, number);
    if (track) {
        track->shown.tid = tid;
        snprintf(track->shown.name, sizeof track->shown.name, "%s", name);
    }
    pthread_mutex_unlock(&timeline->mutex);
    return track ? 0 : -ENOMEM;
}

// --- Adding: collector, mutex held ---

// Drops the lane's oldest chunk.
static void forget_chunk(struct Timeline *timeline, struct Track *track)
{
    struct Chunk *chunk = track->oldest;

    track->oldest = chunk->next;
    if (!track->oldest)
        track->newest = NULL;
    track->shown.forgotten += chunk->shown.event_count;
    timeline->forgotten += chunk->shown.event_count;
    if (Chunk_last_ticks(chunk) > timeline->whole_ticks)
        timeline->whole_ticks = Chunk_last_ticks(chunk);
    timeline->bytes -= Chunk_bytes(chunk);
    Chunk_put(chunk);
}

// Forgets the oldest chunks of all lanes, but for `keep`, which is in use.
static void keep_limit(struct Timeline *timeline, const struct Chunk *keep)
{
    while (timeline->bytes > timeline->limit) {
        struct Track *oldest = NULL;
        size_t i;

        for (i = 0; i < timeline->lane_count; i++) {
            struct Track *track = timeline->lanes[i];

            if (!track || !track->oldest || track->oldest == keep)
                continue;
            if (!oldest || Chunk_last_ticks(track->oldest) <
                               Chunk_last_ticks(oldest->oldest))
                oldest = track;
        }
        if (!oldest)
            return;
        forget_chunk(timeline, oldest);
    }
}

// The chunk to add to, with room for one event at least; NULL: memory.
static struct Chunk *chunk_with_room(struct Timeline *timeline,
                                     struct Track *track)
{
    struct Chunk *chunk = track->newest;

    if (chunk && chunk->shown.event_count < chunk->room)
        return chunk;
    if (chunk && chunk->room < chunk->full) {
        size_t before = Chunk_bytes(chunk);

        if (Chunk_grow(chunk))
            return NULL;
        timeline->bytes += Chunk_bytes(chunk) - before;
    } else {
        chunk = Chunk_new(track->shown.lane, track->open, track->open_count,
                          chunk ? CHUNK_EVENTS : FIRST_EVENTS);
        if (!chunk)
            return NULL;
        timeline->bytes += Chunk_bytes(chunk);
        if (track->newest)
            track->newest->next = chunk;
        else
            track->oldest = chunk;
        track->newest = chunk;
    }
    keep_limit(timeline, chunk);
    return chunk;
}

// Follows the stack; the level says what is open, whatever was lost.
static int follow(struct Timeline *timeline, struct Track *track,
                  const struct Event *event)
{
    unsigned level = Event_level(event);
    enum EventKind kind = Event_kind(event);

    if (kind > EVENT_UNWOUND)
        return 0;
    while (track->open_count &&
           track->open[track->open_count - 1].level >= level)
        track->open_count--;
    if (kind != EVENT_ENTER)
        return 0;
    if (track->open_count == track->open_room) {
        size_t room = track->open_room ? 2 * track->open_room : 32;
        struct OpenCall *open = realloc(track->open, room * sizeof *open);

        if (!open)
            return -ENOMEM;
        timeline->bytes += (room - track->open_room) * sizeof *open;
        track->open = open;
        track->open_room = room;
    }
    track->open[track->open_count++] =
        (struct OpenCall){Event_id(event), level, Event_ticks(event)};
    return 0;
}

static int add_event(struct Timeline *timeline, struct Track *track,
                     const struct Event *event)
{
    struct Chunk *chunk = chunk_with_room(timeline, track);

    if (!chunk)
        return -ENOMEM;
    if (follow(timeline, track, event))
        return -ENOMEM;
    chunk->events[chunk->shown.event_count++] = *event;
    if (Event_kind(event) == EVENT_LOST)
        track->marked += event->what;
    return 0;
}

long Timeline_drain(struct Timeline *timeline, unsigned number,
                    struct Ring *ring)
{
    const struct Event *events;
    struct Track *track;
    long moved = 0;
    int error = 0, part;
    size_t i, count;

    pthread_mutex_lock(&timeline->mutex);
    track = find_track(timeline, number);
    if (!track)
        error = -ENOMEM;
    // Twice, not until it is empty: the producer may be as fast as we are.
    for (part = 0; track && part < 2; part++) {
        count = Ring_peek(ring, &events);
        for (i = 0; i < count; i++) {
            int added = add_event(timeline, track, &events[i]);

            track->dropped += added < 0;
            moved += added == 0;
            error = added < 0 ? added : error;
        }
        // Before there is room for a mark: what is lost by now is lost here.
        track->ring_lost =
            atomic_load_explicit(&ring->lost, memory_order_acquire);
        track->shown.lost = track->ring_lost + track->dropped;
        Ring_pop(ring, count);
    }
    pthread_mutex_unlock(&timeline->mutex);
    return error ? error : moved;
}

size_t Timeline_bytes(struct Timeline *timeline)
{
    size_t bytes;

    pthread_mutex_lock(&timeline->mutex);
    bytes = timeline->bytes;
    pthread_mutex_unlock(&timeline->mutex);
    return bytes;
}

uint64_t Timeline_forgotten(struct Timeline *timeline)
{
    uint64_t forgotten;

    pthread_mutex_lock(&timeline->mutex);
    forgotten = timeline->forgotten;
    pthread_mutex_unlock(&timeline->mutex);
    return forgotten;
}

// --- Views ---

// The newest chunk as it is now, and a mark of what was lost since.
static struct Chunk *copy_newest(const struct Track *track)
{
    const struct Chunk *newest = track->newest;
    uint64_t gap =
        track->ring_lost > track->marked ? track->ring_lost - track->marked : 0;
    struct Chunk *chunk;
    size_t count;

    if (!newest) // all forgotten: but what is open is known
        return Chunk_new(track->shown.lane, track->open, track->open_count, 0);
    count = newest->shown.event_count;
    chunk = Chunk_new(track->shown.lane, newest->open, newest->shown.open_count,
                      count + 1);
    if (!chunk)
        return NULL;
    memcpy(chunk->events, newest->events, count * sizeof *chunk->events);
    if (gap)
        chunk->events[count++] =
            (struct Event){Chunk_last_ticks(newest) << 4 | EVENT_LOST, gap};
    chunk->shown.event_count = count;
    return chunk;
}

static void add_to_view(struct View *view, struct Chunk *chunk)
{
    size_t count = chunk->shown.event_count;
    uint64_t first;

    view->chunks[view->shown.chunk_count++] = chunk;
    if (!count)
        return;
    first = Event_ticks(&chunk->events[0]);
    if (!view->shown.first_ticks || first < view->shown.first_ticks)
        view->shown.first_ticks = first;
    if (Chunk_last_ticks(chunk) > view->shown.last_ticks)
        view->shown.last_ticks = Chunk_last_ticks(chunk);
}

// 0 or -ENOMEM.
static int freeze_track(struct View *view, const struct Track *track)
{
    struct Chunk *chunk, *copy;

    view->lanes[view->shown.lane_count++] = track->shown;
    view->shown.lost += track->shown.lost;
    for (chunk = track->oldest; chunk && chunk->next; chunk = chunk->next) {
        Chunk_get(chunk);
        add_to_view(view, chunk);
    }
    if (!chunk && !track->open_count)
        return 0;
    copy = copy_newest(track);
    if (!copy)
        return -ENOMEM;
    add_to_view(view, copy);
    return 0;
}

static struct View *new_view(const struct Timeline *timeline)
{
    struct View *view = calloc(1, sizeof *view);
    size_t i, chunks = 1;

    if (!view)
        return NULL;
    for (i = 0; i < timeline->lane_count; i++) {
        const struct Track *track = timeline->lanes[i];
        const struct Chunk *chunk;

        for (chunk = track ? track->oldest : NULL; chunk; chunk = chunk->next)
            chunks++;
        chunks++; // open calls, all else forgotten
    }
    view->chunks = calloc(chunks, sizeof *view->chunks);
    view->lanes = calloc(timeline->lane_count + 1, sizeof *view->lanes);
    // A pointer to a chunk is a pointer to what it shows, its first member.
    view->shown.chunks = (const struct TimelineChunk *const *)view->chunks;
    view->shown.lanes = view->lanes;
    if (view->chunks && view->lanes)
        return view;
    TimelineView_free(&view->shown);
    return NULL;
}

struct TimelineView *Timeline_freeze(struct Timeline *timeline)
{
    struct View *view;
    int error = 0;
    size_t i;

    pthread_mutex_lock(&timeline->mutex);
    view = new_view(timeline);
    for (i = 0; view && !error && i < timeline->lane_count; i++)
        if (timeline->lanes[i])
            error = freeze_track(view, timeline->lanes[i]);
    if (view) {
        view->shown.forgotten = timeline->forgotten;
        view->shown.whole_ticks = timeline->whole_ticks;
    }
    pthread_mutex_unlock(&timeline->mutex);
    if (!view)
        return NULL;
    if (error) {
        TimelineView_free(&view->shown);
        return NULL;
    }
    return &view->shown;
}

void TimelineView_free(struct TimelineView *shown)
{
    struct View *view = (struct View *)shown;
    size_t i;

    if (!view)
        return;
    for (i = 0; i < view->shown.chunk_count; i++)
        Chunk_put(view->chunks[i]);
    free(view->chunks);
    free(view->lanes);
    free(view);
}
