// SPDX-License-Identifier: MIT
// One mutex guards the tracks and the blocks of the timeline. A full block is
// only in the recording, and does not change any more.
#include "tracer/timeline/timeline.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/timeline/event_code.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

// If the recording is a file, each of the two halves for names has this number
// of blocks.
#define NAMES_IN_FILE 256u
#define NAMES_IN_MEMORY 16u

struct Timeline {
    pthread_mutex_t mutex;
    struct Recording *recording;
    // True if the file must have the events of blocks that are not full, in
    // case the program is killed.
    bool in_file;
    size_t limit; // Limit in bytes.
    // True if the limit applies only to the list of blocks, and not to their
    // data.
    bool grows;
    size_t kept; // Bytes of the timeline's blocks in the recording.
    // Bytes of memory of the tracks, the list of blocks and the newest blocks.
    size_t bytes;
    size_t count;       // Number of blocks.
    uint64_t forgotten; // Number of forgotten events.
    // Ticks at the newest forgotten event, or 0 if no event was forgotten.
    uint64_t whole_ticks;
    // Number of lost events of threads that have no track any more.
    uint64_t lost;
    // First and last element of the list of tracks, which is sorted by the
    // threads' numbers.
    struct Track *first;
    struct Track *last;
    // Oldest and newest block of all threads, by the time of their beginning.
    struct Block *oldest, *newest;
    // The names of functions in the recording.
    struct RecordingNames names;
    // The lists that the newest Timeline_cut has saved.
    struct RecordingSlot dark, threads;
    // The newest snapshot of the program and the one before it.
    struct RecordingSlot snapshot, older_snapshot;
    uint64_t snapshots; // Number of snapshots that were saved.
    // Number of readers that hold the timeline (Timeline_hold).
    unsigned holds;
    // Timeline_hold_for holds the timeline until this time, CLOCK_MONOTONIC in
    // ns, or 0.
    uint64_t held_until_ns;
    // Recording_truncations at the last check.
    unsigned truncations;
    bool names_lost; // True if all names must be written again.
    bool closed;     // True if the program has closed the file.
    // The track that is being drained, or NULL. The newest block of the track
    // `busy` is in use.
    const struct Track *busy;
    // The track of Ocular's own threads, or NULL if it has no events yet. The
    // newest block of this track is never forgotten, because it grows slowly.
    struct Track *own;
};

struct Timeline *Timeline_new(struct Recording *recording, size_t limit,
                              bool grows)
{
    struct Timeline *timeline = Heap_zeroed(1, sizeof *timeline);

    if (!timeline)
        return NULL;
    timeline->recording = recording;
    timeline->in_file = *Recording_path(recording);
    timeline->limit = limit;
    timeline->grows = grows;
    timeline->names.blocks =
        timeline->in_file || grows ? NAMES_IN_FILE : NAMES_IN_MEMORY;
    pthread_mutex_init(&timeline->mutex, NULL);
    return timeline;
}

void Timeline_free(struct Timeline *timeline)
{
    struct Block *block, *newer;
    struct Track *track, *next;

    if (!timeline)
        return;
    for (block = timeline->oldest; block; block = newer) {
        newer = block->newer;
        Block_free(block);
    }
    for (track = timeline->first; track; track = next) {
        next = track->next;
        Track_free(track);
    }
    if (Timeline_held_until(timeline))
        Recording_lend(timeline->recording);
    Recording_put(timeline->recording);
    RecordingNames_release(&timeline->names);
    pthread_mutex_destroy(&timeline->mutex);
    Heap_free(timeline);
}

void Timeline_abandon(struct Timeline *timeline)
{
    Recording_abandon(timeline->recording);
}

struct Recording *Timeline_recording(const struct Timeline *timeline)
{
    return timeline->recording;
}

// --- Tracks: mutex held ------------------------------------------------------

// Inserts the track into the list of tracks, which is sorted by number. The
// search for the right position begins at the end of the list, because new
// threads have the highest numbers.
static void link_track(struct Timeline *timeline, struct Track *track)
{
    struct Track *before = timeline->last;

    while (before && before->shown.number > track->shown.number)
        before = before->previous;
    track->previous = before;
    track->next = before ? before->next : timeline->first;
    *(before ? &before->next : &timeline->first) = track;
    *(track->next ? &track->next->previous : &timeline->last) = track;
    timeline->bytes += Track_bytes(track);
}

static void drop_track(struct Timeline *timeline, struct Track *track)
{
    struct Track *before = track->previous, *after = track->next;

    *(before ? &before->next : &timeline->first) = after;
    *(after ? &after->previous : &timeline->last) = before;
    timeline->bytes -= Track_bytes(track);
    timeline->lost += track->shown.lost;
    Track_free(track);
}

// --- Blocks: mutex held ------------------------------------------------------

static struct Block *begin_block(struct Timeline *timeline, struct Track *track)
{
    struct Block *block = Track_begin_block(track);

    if (!block)
        return NULL;
    block->older = timeline->newest;
    *(block->older ? &block->older->newer : &timeline->oldest) = block;
    timeline->newest = block;
    timeline->bytes += Block_bytes(block);
    timeline->count++;
    return block;
}

static void drop_block(struct Timeline *timeline, struct Block *block)
{
    struct Track *track = block->track;

    *(block->older ? &block->older->newer : &timeline->oldest) = block->newer;
    *(block->newer ? &block->newer->older : &timeline->newest) = block->older;
    timeline->bytes -= Block_bytes(block);
    timeline->count--;
    timeline->kept -= RecordingSlot_size(&block->slot);
    Recording_drop(timeline->recording, &block->slot);
    if (track->newest == block)
        track->newest = NULL;
    track->blocks--;
    Block_free(block);
    if (track->ended && !track->blocks)
        drop_track(timeline, track);
}

static void forget_block(struct Timeline *timeline, struct Block *block)
{
    timeline->forgotten += block->event_count;
    block->track->shown.forgotten += block->event_count;
    if (block->last_ticks > timeline->whole_ticks)
        timeline->whole_ticks = block->last_ticks;
    drop_block(timeline, block);
}

// Returns true if the block may be forgotten. The newest block of the track
// that is being drained must not be forgotten, and neither must the newest
// block of Ocular's own threads.
static bool may_forget(const struct Timeline *timeline,
                       const struct Block *block)
{
    return block != block->track->newest ||
           (block->track != timeline->busy && block->track != timeline->own);
}

// Forgets the oldest block that may be forgotten, but never the block `but`. If
// `for_place` is true, only forgets a block whose place in the file another
// block can get. If the disk is broken, forgetting other blocks makes no room.
// Returns false if no block could be forgotten.
static bool forget_oldest(struct Timeline *timeline, const struct Block *but,
                          bool for_place)
{
    struct Block *block = timeline->oldest;

    while (block && (block == but || !may_forget(timeline, block) ||
                     (for_place &&
                      !Recording_can_reuse(timeline->recording, &block->slot))))
        block = block->newer;
    if (block)
        forget_block(timeline, block);
    return block;
}

static bool is_lent(struct Timeline *timeline)
{
    if (timeline->held_until_ns &&
        Now_ns(CLOCK_MONOTONIC) >= timeline->held_until_ns)
        timeline->held_until_ns = 0;
    return timeline->held_until_ns;
}

// Returns true if the limit would be exceeded by `more` bytes more.
static bool is_over(struct Timeline *timeline, size_t more)
{
    if (timeline->holds || is_lent(timeline))
        return false;
    if (timeline->grows)
        return timeline->count * sizeof(struct Block) > timeline->limit;
    return timeline->bytes + timeline->kept + more > timeline->limit;
}

// Appends to the recording the data that the block has got since it was last
// saved. If the block's place in the recording is too small, the block moves to
// a larger place. Returns 0 or -errno.
static int append(struct Timeline *timeline, struct Block *block)
{
    const struct TimelineThread *thread = &block->track->shown;
    struct RecordingBlock header = {
        .kind = RECORDING_CHUNK,
        .sequence = block->sequence,
        .open_count = (uint32_t)block->open_count,
        .thread = thread->number,
        .tid = (uint32_t)thread->tid,
        .lost = thread->lost,
        .forgotten = thread->forgotten,
    };
    struct RecordingSlot slot = block->slot;
    size_t left = block->data.size - slot.used;
    int error;

    memcpy(header.name, thread->name, sizeof header.name);
    if (!slot.units || !RecordingSlot_fits(&slot, left))
        slot = (struct RecordingSlot){.room = block->slot.room};
    left = block->data.size - slot.used;
    error = Recording_append(timeline->recording, &slot, &header,
                             block->data.data + slot.used, left);
    if (error)
        return error;
    timeline->kept += RecordingSlot_size(&slot);
    timeline->kept -= RecordingSlot_size(&block->slot);
    if (slot.at != block->slot.at)
        Recording_drop(timeline->recording, &block->slot);
    block->slot = slot;
    return 0;
}

// Fills up the last word of a block's data, because only whole words are
// appended to a recording. Track_add has left room for the padding.
static void pad(struct Bytes *data)
{
    while (data->size % 8)
        data->data[data->size++] = EVENT_CODE_PAD;
}

// Forgets the blocks that are only in the file, if the program has closed the
// file.
static void check_file(struct Timeline *timeline)
{
    struct Block *block, *newer;

    if (timeline->closed || !Recording_is_closed(timeline->recording))
        return;
    timeline->closed = timeline->names_lost = true;
    // The flush moves blocks to memory that were not written yet.
    Recording_flush(timeline->recording, true);
    for (block = timeline->oldest; block; block = newer) {
        newer = block->newer;
        // A track's newest block will be saved again.
        if (block == block->track->newest) {
            timeline->kept -= RecordingSlot_size(&block->slot);
            Recording_drop(timeline->recording, &block->slot);
            block->slot = (struct RecordingSlot){0};
        } else if (!Recording_holds(timeline->recording, &block->slot)) {
            forget_block(timeline, block);
        }
    }
}

// Saves a block in the recording. If there is no room, forgets the oldest
// blocks. Returns false if the block could not be saved.
static bool save_block(struct Timeline *timeline, struct Block *block)
{
    size_t more;
    int error;

    pad(&block->data);
    if (block->slot.units && block->slot.used == block->data.size)
        return true;
    do {
        more = block->slot.units ? 0 : block->data.size;
        while (is_over(timeline, more) && forget_oldest(timeline, block, false))
            ;
        error = append(timeline, block);
        if (error)
            check_file(timeline);
    } while (error && forget_oldest(timeline, block, true));
    return !error;
}

// Saves the block of a track for the last time, and frees its memory.
static void end_block(struct Timeline *timeline, struct Block *block)
{
    bool saved;

    block->slot.room = 0;
    saved = save_block(timeline, block);
    block->track->newest = NULL;
    if (!saved) {
        forget_block(timeline, block);
        return;
    }
    timeline->bytes -= block->data.capacity;
    Bytes_release(&block->data);
}

// Adds events to the track's blocks until memory is out. Returns the number of
// added events.
static size_t add_events(struct Timeline *timeline, struct Track *track,
                         const struct Event *events, size_t count)
{
    size_t added = 1, done, i;

    for (done = 0; added && done < count; done += added) {
        struct Block *block =
            track->newest ? track->newest : begin_block(timeline, track);
        size_t before;

        if (!block)
            break;
        before = Track_bytes(track) + Block_bytes(block);
        added = Track_add(track, events + done, count - done);
        timeline->bytes += Track_bytes(track) + Block_bytes(block) - before;
        for (i = done; i < done + added; i++)
            RecordingNames_see(&timeline->names, &events[i]);
        if (block->event_count >= block->full)
            end_block(timeline, block);
    }
    return done;
}

// --- Functions for the thread that drains rings ------------------------------

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

// A gap is a number of lost events. Adds a gap that the ring has marked,
// without those lost events that Timeline_cut has already marked. Returns true
// if the gap was added or need not be added.
static bool add_gap(struct Timeline *timeline, struct Track *track,
                    struct Event event)
{
    uint64_t ahead = track->ahead < event.what ? track->ahead : event.what;

    track->ahead -= ahead;
    event.what -= ahead;
    return !event.what || add_events(timeline, track, &event, 1);
}

// Adds events from the track's ring. Returns the number of added events.
static size_t take_events(struct Timeline *timeline, struct Track *track,
                          const struct Event *events, size_t count)
{
    size_t gap = 0, added;

    if (!track->ahead)
        return add_events(timeline, track, events, count);
    while (gap < count && Event_kind(&events[gap]) != EVENT_LOST)
        gap++;
    added = add_events(timeline, track, events, gap);
    if (added == gap && gap < count)
        added += add_gap(timeline, track, events[gap]);
    return added;
}

long Timeline_drain(struct Timeline *timeline, struct Track *track,
                    struct Ring *ring)
{
    const struct Event *events;
    size_t done, count, dropped = 0;
    long moved = 0;
    int part;

    pthread_mutex_lock(&timeline->mutex);
    timeline->busy = track;
    // The ring is read only twice, even if it is not empty afterwards, because
    // the pushing thread can be as fast as this loop.
    for (part = 0; part < 2; part++) {
        count = Ring_peek(ring, &events);
        for (done = 0; done < count;) {
            size_t added =
                take_events(timeline, track, events + done, count - done);

            moved += (long)added;
            dropped += !added;
            done += added ? added : 1;
        }
        // `lost` must be read before Ring_pop makes room for the mark of a gap,
        // because the events that were lost until now belong before the mark.
        track->ring_lost =
            atomic_load_explicit(&ring->lost, memory_order_acquire);
        track->shown.lost = track->ring_lost + track->dropped + dropped;
        Ring_pop(ring, count);
    }
    track->dropped += dropped;
    timeline->busy = NULL;
    pthread_mutex_unlock(&timeline->mutex);
    return dropped ? -ENOMEM : moved;
}

int Timeline_add(struct Timeline *timeline, const struct Event *events,
                 size_t count)
{
    int error;

    pthread_mutex_lock(&timeline->mutex);
    if (!timeline->own) {
        timeline->own = Track_new(TIMELINE_OWN, 0, "ocular");
        if (timeline->own)
            link_track(timeline, timeline->own);
    }
    error = timeline->own &&
                    add_events(timeline, timeline->own, events, count) == count
                ? 0
                : -ENOMEM;
    pthread_mutex_unlock(&timeline->mutex);
    return error;
}

// Adds a mark for the lost events that the ring has not marked yet.
static void mark_gap(struct Timeline *timeline, struct Track *track)
{
    uint64_t gap = track->ring_lost - track->marked;
    struct Event event = {Event_when(track->ticks, EVENT_LOST), gap};

    if (track->ring_lost > track->marked && track->ticks &&
        add_events(timeline, track, &event, 1))
        track->ahead += gap;
}

void Timeline_end(struct Timeline *timeline, struct Track *track)
{
    pthread_mutex_lock(&timeline->mutex);
    mark_gap(timeline, track);
    track->ended = true;
    timeline->bytes -= track->open_room * sizeof *track->open;
    Heap_free(track->open);
    track->open = NULL;
    track->open_count = track->open_room = 0;
    if (track->newest)
        end_block(timeline, track->newest);
    else if (!track->blocks)
        drop_track(timeline, track);
    pthread_mutex_unlock(&timeline->mutex);
}

void Timeline_save(struct Timeline *timeline, struct Track *track)
{
    struct Block *newest;

    pthread_mutex_lock(&timeline->mutex);
    if (!track)
        track = timeline->own;
    newest = track ? track->newest : NULL;
    if (timeline->in_file && Recording_takes_all(timeline->recording) &&
        newest) {
        newest->slot.room = (uint32_t)(newest->data.size * 3 / 2);
        save_block(timeline, newest);
    }
    pthread_mutex_unlock(&timeline->mutex);
}

// Saves a new block, and then drops the old block in *before. Returns false if
// the new block could not be saved.
static bool save_anew(struct Timeline *timeline, struct RecordingBlock header,
                      struct RecordingSlot *before, const void *data,
                      size_t size)
{
    struct RecordingSlot slot = {0};

    if (Recording_append(timeline->recording, &slot, &header, data, size))
        return false;
    Recording_drop(timeline->recording, before);
    *before = slot;
    return true;
}

void Timeline_save_snapshot(struct Timeline *timeline, struct Bytes *snapshot,
                            bool last)
{
    struct RecordingBlock header = {.kind = RECORDING_SNAPSHOT};
    struct RecordingSlot newest;

    while (snapshot->size % 8 && !snapshot->error)
        Bytes_put_u8(snapshot, 0);
    pthread_mutex_lock(&timeline->mutex);
    header.sequence = last ? RECORDING_LAST : timeline->snapshots + 1;
    if (!snapshot->error &&
        save_anew(timeline, header, &timeline->older_snapshot, snapshot->data,
                  snapshot->size)) {
        newest = timeline->older_snapshot;
        timeline->older_snapshot = timeline->snapshot;
        timeline->snapshot = newest;
        timeline->snapshots++;
    }
    pthread_mutex_unlock(&timeline->mutex);
}

static void save_threads(struct Timeline *timeline)
{
    const struct Track *track;
    struct Bytes list;

    Bytes_init(&list);
    for (track = timeline->first; track; track = track->next) {
        struct RecordingThread thread = {
            .number = track->shown.number,
            .tid = (uint32_t)track->shown.tid,
            .sequence = track->begun,
            .lost = track->shown.lost,
            .forgotten = track->shown.forgotten,
        };

        memcpy(thread.name, track->shown.name, sizeof thread.name);
        Bytes_put(&list, &thread, sizeof thread);
    }
    if (!list.error)
        save_anew(timeline, (struct RecordingBlock){.kind = RECORDING_THREADS},
                  &timeline->threads, list.data, list.size);
    Bytes_release(&list);
}

void Timeline_cut(struct Timeline *timeline, const struct RecordingDark *dark,
                  size_t count)
{
    struct Track *track;
    size_t i;

    pthread_mutex_lock(&timeline->mutex);
    check_file(timeline);
    for (track = timeline->first; track; track = track->next) {
        if (track->ended)
            continue;
        mark_gap(timeline, track);
        if (!track->blocks && track->open_count)
            begin_block(timeline, track); // The new block saves the open calls.
        if (track->newest)
            end_block(timeline, track->newest);
    }
    for (i = 0; i < count; i++)
        RecordingNames_see_id(&timeline->names, dark[i].id);
    save_anew(timeline, (struct RecordingBlock){.kind = RECORDING_DARK},
              &timeline->dark, dark, count * sizeof *dark);
    save_threads(timeline);
    pthread_mutex_unlock(&timeline->mutex);
}

void Timeline_hold(struct Timeline *timeline, bool holds)
{
    pthread_mutex_lock(&timeline->mutex);
    // Without this loop, readers that hold the timeline one after the other
    // could make the timeline grow.
    while (holds && is_over(timeline, 0) &&
           forget_oldest(timeline, NULL, false))
        ;
    timeline->holds += holds ? 1 : -1u;
    pthread_mutex_unlock(&timeline->mutex);
}

static bool has_room_for_names(const struct Timeline *timeline)
{
    return timeline->names.blocks == NAMES_IN_FILE;
}

uint64_t Timeline_hold_for(struct Timeline *timeline, uint64_t ns)
{
    uint64_t until = Now_ns(CLOCK_MONOTONIC) + ns;

    pthread_mutex_lock(&timeline->mutex);
    timeline->held_until_ns = until;
    pthread_mutex_unlock(&timeline->mutex);
    return until;
}

uint64_t Timeline_held_until(struct Timeline *timeline)
{
    uint64_t until;

    pthread_mutex_lock(&timeline->mutex);
    until = is_lent(timeline) ? timeline->held_until_ns : 0;
    pthread_mutex_unlock(&timeline->mutex);
    return until;
}

void Timeline_want_names(struct Timeline *timeline, const uint32_t *ids,
                         size_t count)
{
    size_t i;

    pthread_mutex_lock(&timeline->mutex);
    for (i = 0; has_room_for_names(timeline) && i < count; i++)
        RecordingNames_see_id(&timeline->names, ids[i]);
    pthread_mutex_unlock(&timeline->mutex);
}

void Timeline_end_names(struct Timeline *timeline)
{
    if (has_room_for_names(timeline))
        RecordingNames_end(&timeline->names, timeline->recording);
}

bool Timeline_wants_names(struct Timeline *timeline)
{
    bool wants;

    pthread_mutex_lock(&timeline->mutex);
    wants = timeline->names.wanted_count > 0;
    pthread_mutex_unlock(&timeline->mutex);
    return wants;
}

// If the names in the file are lost, all names will be written again.
// restart_names is called by the thread that writes the names, which holds
// Timeline.mutex.
static void restart_names(struct Timeline *timeline)
{
    unsigned truncations = Recording_truncations(timeline->recording);

    if (timeline->names_lost || truncations != timeline->truncations)
        RecordingNames_restart(&timeline->names);
    timeline->names_lost = false;
    timeline->truncations = truncations;
}

void Timeline_save_run(struct Timeline *timeline, struct RecordingHead *head,
                       const struct RecordingSource *source)
{
    struct RecordingWanted wanted;

    Timeline_save(timeline, NULL);
    pthread_mutex_lock(&timeline->mutex);
    check_file(timeline);
    restart_names(timeline);
    head->forgotten = timeline->forgotten;
    head->lost = timeline->lost;
    head->whole_ticks = timeline->whole_ticks;
    Recording_put_head(timeline->recording, head);
    wanted = RecordingNames_take(&timeline->names);
    pthread_mutex_unlock(&timeline->mutex);
    // RecordingNames_write is called without the mutex, because it takes other
    // locks to find a name.
    RecordingNames_write(&timeline->names, timeline->recording, source,
                         &wanted);
    pthread_mutex_lock(&timeline->mutex);
    RecordingNames_give_back(&timeline->names, &wanted);
    pthread_mutex_unlock(&timeline->mutex);
}

size_t Timeline_bytes(struct Timeline *timeline)
{
    size_t bytes;

    pthread_mutex_lock(&timeline->mutex);
    bytes = sizeof *timeline + timeline->bytes;
    pthread_mutex_unlock(&timeline->mutex);
    return bytes + Recording_memory(timeline->recording);
}

uint64_t Timeline_forgotten(struct Timeline *timeline)
{
    uint64_t forgotten;

    pthread_mutex_lock(&timeline->mutex);
    forgotten = timeline->forgotten;
    pthread_mutex_unlock(&timeline->mutex);
    return forgotten;
}
