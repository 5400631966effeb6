// SPDX-License-Identifier: MIT
// A binary heap, the oldest on top. An age that is out of date is too old, so
// only the top one has to be right; it is brought up to date there.
#include "tracer/timeline/ages.h"
#include "ipc/base/heap.h"

#include <errno.h>

#define FIRST_ROOM 16u

void Ages_release(struct Ages *ages)
{
    Heap_free(ages->tracks);
    *ages = (struct Ages){0};
}

size_t Ages_bytes(const struct Ages *ages)
{
    return ages->room * sizeof *ages->tracks;
}

static void put(struct Ages *ages, size_t place, struct Track *track)
{
    ages->tracks[place] = track;
    track->place = place;
}

static void move_up(struct Ages *ages, struct Track *track)
{
    size_t place = track->place;

    for (; place > 1 && ages->tracks[place / 2]->age > track->age; place /= 2)
        put(ages, place, ages->tracks[place / 2]);
    put(ages, place, track);
}

static void move_down(struct Ages *ages, struct Track *track)
{
    size_t place = track->place, child;

    for (; (child = 2 * place) <= ages->count; place = child) {
        if (child < ages->count &&
            ages->tracks[child + 1]->age < ages->tracks[child]->age)
            child++;
        if (ages->tracks[child]->age >= track->age)
            break;
        put(ages, place, ages->tracks[child]);
    }
    put(ages, place, track);
}

int Ages_add(struct Ages *ages, struct Track *track)
{
    if (ages->count + 1 >= ages->room) {
        size_t room = ages->room ? 2 * ages->room : FIRST_ROOM;
        struct Track **tracks =
            Heap_resize(ages->tracks, room * sizeof *ages->tracks);

        if (!tracks)
            return -ENOMEM;
        ages->tracks = tracks;
        ages->room = room;
    }
    track->age = Chunk_last_ticks(track->oldest);
    put(ages, ++ages->count, track);
    move_up(ages, track);
    return 0;
}

void Ages_remove(struct Ages *ages, struct Track *track)
{
    struct Track *last;

    if (!track->place)
        return;
    last = ages->tracks[ages->count--];
    if (last != track) {
        last->place = track->place;
        move_up(ages, last);
        move_down(ages, last);
    }
    track->place = 0;
}

struct Track *Ages_oldest(struct Ages *ages)
{
    for (;;) {
        struct Track *track = ages->count ? ages->tracks[1] : NULL;
        uint64_t age = track ? Chunk_last_ticks(track->oldest) : 0;

        if (!track || age <= track->age)
            return track;
        track->age = age;
        move_down(ages, track);
    }
}
