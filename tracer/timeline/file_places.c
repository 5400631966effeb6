// SPDX-License-Identifier: MIT
#include "tracer/timeline/file_places.h"
#include "ipc/base/array.h"
#include "tracer/timeline/recording_format.h"

#include <stdlib.h>

#define FEW 16u   // Up to FEW, each number of units is a size.
#define MANY 128u // Up to MANY, each multiple of FEW is a size.
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

    if (ARRAY_GROW(places->size[i].at, places->size[i].count,
                   places->size[i].room, 16))
        places->size[i].at[places->size[i].count++] = at;
}

struct Place {
    uint64_t at, units;
};

static int compare_places(const void *a, const void *b)
{
    const struct Place *left = a, *right = b;

    return left->at < right->at ? -1 : left->at > right->at;
}

// Takes all free places out of the lists, and returns them in their order in
// the file. Returns NULL if memory is out.
static struct Place *take_all(struct FilePlaces *places, size_t *count)
{
    struct Place *all;
    size_t i, j, n = 0;

    *count = 0;
    for (i = 0; i < FILE_PLACES_SIZES; i++)
        *count += places->size[i].count;
    all = Heap_alloc((*count + 1) * sizeof *all);
    for (i = 0; all && i < FILE_PLACES_SIZES; i++) {
        for (j = 0; j < places->size[i].count; j++)
            all[n++] =
                (struct Place){places->size[i].at[j], units_of((unsigned)i)};
        places->size[i].count = 0;
    }
    if (n)
        qsort(all, n, sizeof *all, compare_places);
    return all;
}

// Adds a free range of the file as several places, the largest place first.
static void give_stretch(struct FilePlaces *places, struct Place stretch)
{
    while (stretch.units) {
        unsigned i = index_of(stretch.units);

        if (i >= FILE_PLACES_SIZES)
            i = FILE_PLACES_SIZES - 1;
        if (units_of(i) > stretch.units)
            i--;
        FilePlaces_give(places, units_of(i), stretch.at);
        stretch.at += units_of(i) * RECORDING_UNIT;
        stretch.units -= units_of(i);
    }
}

bool FilePlaces_join(struct FilePlaces *places,
                     bool (*may_join)(void *context, uint64_t first,
                                      uint64_t second),
                     void *context)
{
    size_t i, count;
    struct Place *all = take_all(places, &count), stretch = {0};
    bool joined = false;

    for (i = 0; all && i < count; i++) {
        bool joins = stretch.units &&
                     stretch.at + stretch.units * RECORDING_UNIT == all[i].at &&
                     may_join(context, stretch.at, all[i].at);

        joined |= joins;
        if (joins) {
            stretch.units += all[i].units;
        } else {
            give_stretch(places, stretch);
            stretch = all[i];
        }
    }
    give_stretch(places, stretch);
    Heap_free(all);
    return joined;
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
