// SPDX-License-Identifier: MIT
// Tracks of chunks under one mutex. A full chunk never changes again and is
// shared, by reference count, with the views that hold it; the chunk that a
// thread still fills is copied into each view.
#include "tracer/timeline/timeline.h"
#include "ipc/base/heap.h"
#include "tracer/timeline/eviction_heap.h"

#include <errno.h>
#include <pthread.h>

struct Timeline {
    pthread_mutex_t mutex;
    size_t limit;
    size_t bytes; // of the tracks
    uint64_t forgotten;
    uint64_t whole_ticks; // newest forgotten event
    uint64_t lost;        // by threads that are gone
    struct Track *first;  // in order of the threads' numbers
    struct Track *last;
    size_t track_count;
    struct Recording *recording;  // NULL: what has no room is forgotten
    bool saves;                   // each event is written to it
    bool spills;                  // it takes events that leave memory
    int error;                    // -errno of the last that did not fit there
    struct RecordingNames names;  // of what is written to it
    size_t spilled;               // chunks that are in it alone
    size_t ended;                 // tracks whose thread has ended
    struct EvictionHeap eviction; // tracks with a chunk that may leave memory
    const struct Track *busy;     // being drained: its newest chunk is in use
    struct Track *own; // gets its events a few at a time, so that its newest
                       // chunk stays; NULL: there were none yet
};

struct Timeline *Timeline_new(size_t limit_bytes)
{
    struct Timeline *timeline = Heap_zeroed(1, sizeof *timeline);

    if (!timeline)
        return NULL;
    timeline->limit = limit_bytes;
    pthread_mutex_init(&timeline->mutex, NULL);
    return timeline;
}

int Timeline_spill_to(struct Timeline *timeline, const char *folder)
{
    timeline->recording = Recording_new_unnamed(folder, &timeline->error);
    timeline->spills = timeline->recording;
    return timeline->error;
}

void Timeline_record_to(struct Timeline *timeline, struct Recording *recording,
                        bool spills)
{
    timeline->recording = recording;
    timeline->saves = true;
    timeline->spills = spills;
}

void Timeline_free(struct Timeline *timeline)
{
    struct Track *track, *next;

    if (!timeline)
        return;
    if (timeline->recording)
        Recording_end(timeline->recording);
    for (track = timeline->first; track; track = next) {
        next = track->next;
        Track_free(track);
    }
    if (timeline->recording)
        Recording_put(timeline->recording);
    RecordingNames_release(&timeline->names);
    EvictionHeap_release(&timeline->eviction);
    pthread_mutex_destroy(&timeline->mutex);
    Heap_free(timeline);
}

void Timeline_abandon(struct Timeline *timeline)
{
    if (timeline->recording)
        Recording_abandon(timeline->recording);
}

// --- Tracks: mutex held ------------------------------------------------------

// Threads are numbered in order, so its place is at the end or near to it.
static void link_track(struct Timeline *timeline, struct Track *track)
{
    struct Track *before = timeline->last;

    while (before && before->shown.number > track->shown.number)
        before = before->previous;
    track->previous = before;
    track->next = before ? before->next : timeline->first;
    *(before ? &before->next : &timeline->first) = track;
    *(track->next ? &track->next->previous : &timeline->last) = track;
    timeline->track_count++;
    timeline->bytes += track->bytes;
}

static void drop_track(struct Timeline *timeline, struct Track *track)
{
    struct Track *before = track->previous, *after = track->next;

    *(before ? &before->next : &timeline->first) = after;
    *(after ? &after->previous : &timeline->last) = before;
    timeline->track_count--;
    timeline->ended -= track->ended;
    timeline->bytes -= track->bytes;
    timeline->lost += track->shown.lost;
    EvictionHeap_remove(&timeline->eviction, track);
    Track_free(track);
}

// Called when the track's chunks have changed, or when the track begins or
// stops to be used.
static void set_age(struct Timeline *timeline, struct Track *track)
{
    const struct Chunk *oldest = Track_resident(track);
    bool in_use = track == timeline->busy || track == timeline->own;
    bool may_leave = oldest && !(in_use && oldest == track->newest);

    if (!may_leave)
        EvictionHeap_remove(&timeline->eviction, track);
    else if (!track->place) // memory out: it is tried again with each change
        EvictionHeap_add(&timeline->eviction, track);
}

// Drops the thread's oldest chunk, and the track with the last one of a thread
// that has ended.
static void forget_chunk(struct Timeline *timeline, struct Track *track)
{
    const struct Chunk *chunk = track->oldest;
    size_t before = track->bytes;

    timeline->forgotten += chunk->shown.event_count;
    timeline->spilled -= Chunk_is_spilled(chunk);
    if (Chunk_last_ticks(chunk) > timeline->whole_ticks)
        timeline->whole_ticks = Chunk_last_ticks(chunk);
    Track_forget(track);
    timeline->bytes -= before - track->bytes;
    if (track->ended && !track->oldest)
        drop_track(timeline, track);
    else
        set_age(timeline, track);
}

// The track whose oldest chunk is in the file, and the oldest of all there.
static struct Track *oldest_spilled(const struct Timeline *timeline)
{
    struct Track *track, *found = NULL;

    for (track = timeline->first; track; track = track->next)
        if (track->spilled && (!found || Chunk_last_ticks(track->oldest) <
                                             Chunk_last_ticks(found->oldest)))
            found = track;
    return found;
}

static bool spill_chunk(struct Timeline *timeline, struct Track *track)
{
    size_t before = track->bytes;
    int error;

    if (!timeline->spills)
        return false;
    error = Track_spill(track, timeline->recording);
    if (error < 0) {
        timeline->error = error;
        return false;
    }
    timeline->bytes -= before - track->bytes;
    timeline->spilled++;
    set_age(timeline, track);
    return true;
}

// Is it the list of what is in the file that fills the memory?
static bool is_list_long(const struct Timeline *timeline)
{
    return 2 * (timeline->spilled * sizeof(struct Chunk) +
                timeline->ended * sizeof(struct Track)) >
           timeline->bytes;
}

static size_t bytes_of(const struct Timeline *timeline)
{
    return sizeof *timeline + timeline->bytes +
           EvictionHeap_bytes(&timeline->eviction);
}

// Chunks go to the file while there is room in it. The oldest chunk is
// forgotten first; if any chunk is in the file, the oldest is.
static void keep_limit(struct Timeline *timeline)
{
    while (bytes_of(timeline) > timeline->limit) {
        struct Track *track = EvictionHeap_oldest(&timeline->eviction);

        struct Track *spilled;

        if (track && spill_chunk(timeline, track))
            continue;
        if (!track && !is_list_long(timeline))
            return; // it is what cannot leave
        spilled = timeline->spills ? oldest_spilled(timeline) : NULL;
        if (!track && !spilled)
            return;
        forget_chunk(timeline, spilled ? spilled : track);
    }
}

static void save_chunk(struct Timeline *timeline, const struct Track *track,
                       struct Chunk *chunk)
{
    int error = Chunk_save(chunk, timeline->recording, &track->shown);

    timeline->error = error ? error : timeline->error;
}

static int add_event(struct Timeline *timeline, struct Track *track,
                     const struct Event *event)
{
    size_t before = track->bytes;
    struct Chunk *newest = track->newest;
    int error = Track_add(track, event);

    if (timeline->saves) {
        RecordingNames_see(&timeline->names, event);
        if (newest && newest != track->newest) // it is full
            save_chunk(timeline, track, newest);
    }
    if (track->bytes != before) { // a new chunk, or a larger one
        timeline->bytes += track->bytes - before;
        set_age(timeline, track);
        keep_limit(timeline);
    }
    return error;
}

// --- The collector's side ----------------------------------------------------

struct Track *Timeline_begin(struct Timeline *timeline, unsigned number,
                             pid_t tid, const char *name)
{
    struct Track *track = Track_new(number, tid, name);

    if (!track)
        return NULL;
    pthread_mutex_lock(&timeline->mutex);
    link_track(timeline, track);
    pthread_mutex_unlock(&timeline->mutex);
    return track;
}

void Timeline_name(struct Timeline *timeline, struct Track *track,
                   const char *name)
{
    pthread_mutex_lock(&timeline->mutex);
    Track_name(track, name);
    pthread_mutex_unlock(&timeline->mutex);
}

long Timeline_drain(struct Timeline *timeline, struct Track *track,
                    struct Ring *ring)
{
    const struct Event *events;
    long moved = 0;
    int error = 0, part;
    size_t i, count;

    pthread_mutex_lock(&timeline->mutex);
    timeline->busy = track;
    set_age(timeline, track);
    // Twice, not until it is empty: the producer may be as fast as we are.
    for (part = 0; part < 2; part++) {
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
    timeline->busy = NULL;
    set_age(timeline, track);
    pthread_mutex_unlock(&timeline->mutex);
    return error ? error : moved;
}

int Timeline_add(struct Timeline *timeline, const struct Event *events,
                 size_t count)
{
    size_t i;
    int error = 0;

    pthread_mutex_lock(&timeline->mutex);
    if (!timeline->own) {
        timeline->own = Track_new(TIMELINE_OWN, 0, "ocular");
        if (timeline->own)
            link_track(timeline, timeline->own);
    }
    if (!timeline->own)
        error = -ENOMEM;
    for (i = 0; !error && i < count; i++)
        error = add_event(timeline, timeline->own, &events[i]);
    pthread_mutex_unlock(&timeline->mutex);
    return error;
}

void Timeline_end(struct Timeline *timeline, struct Track *track)
{
    size_t before;

    pthread_mutex_lock(&timeline->mutex);
    if (timeline->saves && track->newest)
        save_chunk(timeline, track, track->newest);
    before = track->bytes;
    Track_end(track);
    timeline->ended++;
    timeline->bytes -= before - track->bytes;
    if (!track->oldest)
        drop_track(timeline, track);
    keep_limit(timeline);
    pthread_mutex_unlock(&timeline->mutex);
}

void Timeline_save(struct Timeline *timeline, struct Track *track)
{
    pthread_mutex_lock(&timeline->mutex);
    if (!track)
        track = timeline->own;
    if (timeline->saves && track && track->newest)
        save_chunk(timeline, track, track->newest);
    pthread_mutex_unlock(&timeline->mutex);
}

void Timeline_save_run(struct Timeline *timeline, struct RecordingHead *head,
                       const struct RecordingSource *source)
{
    struct RecordingWanted wanted;
    int error;

    if (!timeline->saves)
        return;
    Timeline_save(timeline, NULL);
    pthread_mutex_lock(&timeline->mutex);
    head->forgotten = timeline->forgotten;
    head->lost = timeline->lost;
    head->whole_ticks = timeline->whole_ticks;
    Recording_put_head(timeline->recording, head);
    wanted = RecordingNames_take(&timeline->names);
    pthread_mutex_unlock(&timeline->mutex);
    // Without the mutex: finding a name takes other locks.
    error = RecordingNames_write(&timeline->names, timeline->recording, source,
                                 &wanted);
    pthread_mutex_lock(&timeline->mutex);
    RecordingNames_give_back(&timeline->names, &wanted);
    timeline->error = error ? error : timeline->error;
    pthread_mutex_unlock(&timeline->mutex);
}

void Timeline_flush(struct Timeline *timeline, bool waits)
{
    int error =
        timeline->recording ? Recording_flush(timeline->recording, waits) : 0;

    if (!error)
        return;
    pthread_mutex_lock(&timeline->mutex);
    timeline->error = error;
    pthread_mutex_unlock(&timeline->mutex);
}

size_t Timeline_waiting(const struct Timeline *timeline)
{
    return timeline->recording ? Recording_waiting(timeline->recording) : 0;
}

size_t Timeline_bytes(struct Timeline *timeline)
{
    size_t bytes;

    pthread_mutex_lock(&timeline->mutex);
    bytes = bytes_of(timeline);
    pthread_mutex_unlock(&timeline->mutex);
    return bytes;
}

uint64_t Timeline_forgotten(struct Timeline *timeline, int *why)
{
    uint64_t forgotten;

    pthread_mutex_lock(&timeline->mutex);
    forgotten = timeline->forgotten;
    *why = timeline->error;
    pthread_mutex_unlock(&timeline->mutex);
    return forgotten;
}

// --- Views -------------------------------------------------------------------

struct TimelineView *Timeline_freeze(struct Timeline *timeline)
{
    struct View *view;

    pthread_mutex_lock(&timeline->mutex);
    view = View_freeze(timeline->first, timeline->track_count);
    if (view) {
        view->shown.forgotten = timeline->forgotten;
        view->shown.whole_ticks = timeline->whole_ticks;
        view->shown.lost += timeline->lost;
    }
    pthread_mutex_unlock(&timeline->mutex);
    return view ? &view->shown : NULL;
}
