// SPDX-License-Identifier: MIT
// A thread's list of chunks. Only the newest changes; the others may be shared
// with views.
#include "tracer/timeline/track.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIRST_EVENTS 64u // it begins small: most threads say little
#define FIRST_OPEN 32u

struct Track *Track_new(unsigned number, pid_t tid, const char *name)
{
    struct Track *track = Heap_zeroed(1, sizeof *track);

    if (!track)
        return NULL;
    track->bytes = sizeof *track;
    track->shown.number = number;
    track->shown.tid = tid;
    Track_name(track, name);
    return track;
}

void Track_name(struct Track *track, const char *name)
{
    snprintf(track->shown.name, sizeof track->shown.name, "%s", name);
}

void Track_free(struct Track *track)
{
    while (track->oldest) {
        struct Chunk *next = track->oldest->next;

        Chunk_put(track->oldest);
        track->oldest = next;
    }
    Heap_free(track->open);
    Heap_free(track);
}

// Makes a chunk, or a larger one of the newest, if that is full. 0 or -ENOMEM.
static int make_room(struct Track *track)
{
    struct Chunk *chunk = track->newest;

    if (chunk && chunk->shown.event_count < chunk->room)
        return 0;
    if (chunk && chunk->room < chunk->full) {
        size_t before = Chunk_bytes(chunk);

        if (Chunk_grow(chunk))
            return -ENOMEM;
        track->bytes += Chunk_bytes(chunk) - before;
        return 0;
    }
    chunk = Chunk_new(track->shown.number, track->open, track->open_count,
                      chunk ? CHUNK_EVENTS : FIRST_EVENTS);
    if (!chunk)
        return -ENOMEM;
    chunk->sequence = track->chunks++;
    track->bytes += Chunk_bytes(chunk);
    if (track->newest)
        track->newest->next = chunk;
    else
        track->oldest = chunk;
    track->newest = chunk;
    return 0;
}

// Follows the stack; the level says which calls are open, whatever was lost.
static int follow(struct Track *track, const struct Event *event)
{
    unsigned level = Event_level(event);
    enum EventKind kind = Event_kind(event);

    if (kind > EVENT_UNWOUND && kind != EVENT_PARK && !EventKind_opens(kind))
        return 0;
    while (track->open_count &&
           track->open[track->open_count - 1].level >= level)
        track->open_count--;
    if (!EventKind_opens(kind))
        return 0;
    if (track->open_count == track->open_room) {
        size_t room = track->open_room ? 2 * track->open_room : FIRST_OPEN;
        struct OpenCall *open = Heap_resize(track->open, room * sizeof *open);

        if (!open)
            return -ENOMEM;
        track->bytes += (room - track->open_room) * sizeof *open;
        track->open = open;
        track->open_room = room;
    }
    track->open[track->open_count++] =
        (struct OpenCall){Event_id(event), level, Event_ticks(event)};
    return 0;
}

int Track_add(struct Track *track, const struct Event *event)
{
    struct Chunk *chunk;

    if (make_room(track) || follow(track, event))
        return -ENOMEM;
    chunk = track->newest;
    chunk->events[chunk->shown.event_count++] = *event;
    if (Event_kind(event) == EVENT_LOST)
        track->marked += event->what;
    return 0;
}

void Track_end(struct Track *track)
{
    track->ended = true;
    track->bytes -= track->open_room * sizeof *track->open;
    Heap_free(track->open);
    track->open = NULL;
    track->open_count = track->open_room = 0;
    if (track->newest) {
        track->bytes -= Chunk_bytes(track->newest);
        Chunk_fit(track->newest);
        track->bytes += Chunk_bytes(track->newest);
    }
}

struct Chunk *Track_resident(const struct Track *track)
{
    return track->spilled ? track->spilled->next : track->oldest;
}

int Track_spill(struct Track *track, struct Recording *recording)
{
    struct Chunk *chunk = Track_resident(track), *copy;
    int error = Chunk_spill(chunk, recording, &track->shown, &copy);

    if (error)
        return error;
    track->bytes -= Chunk_bytes(chunk);
    track->bytes += Chunk_bytes(copy);
    *(track->spilled ? &track->spilled->next : &track->oldest) = copy;
    track->spilled = copy;
    if (track->newest == chunk)
        track->newest = copy;
    Chunk_put(chunk);
    return 0;
}

void Track_forget(struct Track *track)
{
    struct Chunk *chunk = track->oldest;

    track->oldest = chunk->next;
    if (!track->oldest)
        track->newest = NULL;
    if (track->spilled == chunk)
        track->spilled = NULL;
    track->shown.forgotten += chunk->shown.event_count;
    track->bytes -= Chunk_bytes(chunk);
    Chunk_put(chunk);
}

struct Chunk *Track_show_newest(const struct Track *track)
{
    struct Chunk *newest = track->newest;
    bool elsewhere = !newest || Chunk_is_spilled(newest);
    uint64_t gap =
        track->ring_lost > track->marked ? track->ring_lost - track->marked : 0;
    struct Chunk *chunk;
    size_t count = elsewhere ? 0 : newest->shown.event_count;

    if (!elsewhere && track->ended && !gap) { // it will never change
        Chunk_get(newest);
        return newest;
    }
    if (elsewhere)
        chunk =
            Chunk_new(track->shown.number, track->open, track->open_count, 1);
    else
        chunk = Chunk_new(track->shown.number, newest->open,
                          newest->shown.open_count, count + 1);
    if (!chunk)
        return NULL;
    if (count)
        memcpy(chunk->events, newest->events, count * sizeof *chunk->events);
    if (gap && newest)
        chunk->events[count++] = (struct Event){
            Event_when(Chunk_last_ticks(newest), EVENT_LOST), gap};
    chunk->shown.event_count = count;
    return chunk;
}
