// SPDX-License-Identifier: MIT
// See file_places.h.
#include "tracer/timeline/file_places.h"
#include "ipc/base/heap.h"

#define FEW 16u   // each number of units up to this number is a size
#define MANY 128u // up to this number each multiple of FEW is a size
#define MANY_INDEX (FEW - 1 + MANY / FEW - 1)

static unsigned index_of(uint64_t units)
{
    unsigned index = MANY_INDEX;

    if (units <= FEW)
        return (unsigned)units - 1;
    if (units <= MANY)
        return (unsigned)(FEW - 1 + (units + FEW - 1) / FEW - 1);
    for (; MANY < units; units = (units + 1) / 2)
        index++;
    return index;
}

static uint64_t units_of(unsigned index)
{
    if (index < FEW)
        return index + 1;
    if (index <= MANY_INDEX)
        return (uint64_t)(index - FEW + 2) * FEW;
    return (uint64_t)MANY << (index - MANY_INDEX);
}

uint64_t FilePlaces_units(uint64_t units)
{
    unsigned index = index_of(units);

    return index < FILE_PLACES_SIZES ? units_of(index) : 0;
}

bool FilePlaces_take(struct FilePlaces *places, bool larger, uint64_t *units,
                     uint64_t *at)
{
    unsigned i = index_of(*units);

    while (larger && i + 1 < FILE_PLACES_SIZES && !places->size[i].count)
        i++;
    if (!places->size[i].count)
        return false;
    *units = units_of(i);
    *at = places->size[i].at[--places->size[i].count];
    return true;
}

void FilePlaces_give(struct FilePlaces *places, uint64_t units, uint64_t at)
{
    unsigned i = index_of(units);

    if (places->size[i].count == places->size[i].room) {
        size_t room = places->size[i].room ? 2 * places->size[i].room : 16;
        uint64_t *free = Heap_resize(places->size[i].at, room * sizeof *free);

        if (!free)
            return;
        places->size[i].at = free;
        places->size[i].room = room;
    }
    places->size[i].at[places->size[i].count++] = at;
}

void FilePlaces_move(struct FilePlaces *to, struct FilePlaces *from)
{
    unsigned i;

    for (i = 0; i < FILE_PLACES_SIZES; i++)
        while (from->size[i].count)
            FilePlaces_give(to, units_of(i),
                            from->size[i].at[--from->size[i].count]);
}

void FilePlaces_release(struct FilePlaces *places)
{
    size_t i;

    for (i = 0; i < FILE_PLACES_SIZES; i++)
        Heap_free(places->size[i].at);
}
