// SPDX-License-Identifier: MIT
#include "tracer/timeline/track.h"
#include "ipc/base/array.h"
#include "tracer/timeline/event_code.h"

#include <errno.h>
#include <stdio.h>

#define FIRST_OPEN 32u
// Largest number of events for which memory is reserved at once.
#define AT_ONCE 64u

struct Track *Track_new(unsigned number, pid_t tid, const char *name)
{
    struct Track *track = Heap_zeroed(1, sizeof *track);

    if (!track)
        return NULL;
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
    Heap_free(track->open);
    Heap_free(track);
}

struct Block *Track_begin_block(struct Track *track)
{
    struct Block *block = Heap_zeroed(1, sizeof *block);

    if (!block)
        return NULL;
    Bytes_put(&block->data, track->open,
              track->open_count * sizeof *track->open);
    if (block->data.error) {
        Block_free(block);
        return NULL;
    }
    block->track = track;
    block->sequence = track->begun++;
    block->open_count = track->open_count;
    block->full = BLOCK_EVENTS - track->open_count;
    // A block contains more events in a deep recursion. The reason is that each
    // block also contains a copy of the open calls, which should be smaller
    // than the events.
    if (track->open_count > BLOCK_EVENTS / 5)
        block->full = 4 * track->open_count;
    track->blocks++;
    track->newest = block;
    track->ticks = 0;
    return block;
}

// Adds the call of an event to the open calls, as the innermost call. Returns 0
// or -ENOMEM.
static int open_call(struct Track *track, const struct Event *event)
{
    if (!ARRAY_GROW(track->open, track->open_count, track->open_room,
                    FIRST_OPEN))
        return -ENOMEM;
    track->open[track->open_count++] = (struct OpenCall){
        Event_id(event), Event_level(event), Event_ticks(event)};
    return 0;
}

// Updates the list of open calls after an event. The level in the event shows
// which calls are open, even if earlier events were lost. Returns 0 or -ENOMEM.
static int follow(struct Track *track, const struct Event *event)
{
    unsigned level = Event_level(event);
    enum EventKind kind = Event_kind(event);

    if (kind == EVENT_LOST)
        track->marked += event->what;
    if (kind > EVENT_UNWOUND && kind != EVENT_PARK && !EventKind_opens(kind))
        return 0;
    while (track->open_count &&
           track->open[track->open_count - 1].level >= level)
        track->open_count--;
    return EventKind_opens(kind) ? open_call(track, event) : 0;
}

// Enlarges the data's memory for `events` more events and for padding, if
// necessary. Returns 0 or -ENOMEM.
static int make_room(struct Bytes *data, size_t events)
{
    size_t size = data->size, more = events * EVENT_CODE_MOST + 8;
    int error;

    if (data->capacity - size >= more)
        return 0;
    error = Bytes_extend(data, more) ? 0 : -ENOMEM;
    data->size = size;
    data->error = 0;
    return error;
}

size_t Track_add(struct Track *track, const struct Event *events, size_t count)
{
    struct Block *block = track->newest;
    struct Bytes *data = &block->data;
    size_t i, left = block->full - block->event_count;
    uint64_t ticks = track->ticks;
    uint8_t *to;

    count = count < left ? count : left;
    count = count < AT_ONCE ? count : AT_ONCE;
    if (make_room(data, count))
        return 0;
    to = data->data + data->size;
    for (i = 0; i < count && follow(track, &events[i]) == 0; i++)
        to = EventCode_put(to, &events[i], &ticks);
    data->size = (size_t)(to - data->data);
    block->event_count += i;
    if (i)
        block->last_ticks = track->ticks = ticks;
    return i;
}

void Block_free(struct Block *block)
{
    Bytes_release(&block->data);
    Heap_free(block);
}
