// SPDX-License-Identifier: MIT
// See file_places.h.
#include "tracer/timeline/file_places.h"
#include "ipc/base/heap.h"

#define FEW_PAGES 32u

static unsigned index_of(uint64_t pages)
{
    unsigned index = FEW_PAGES - 1;

    if (pages <= FEW_PAGES)
        return (unsigned)pages - 1;
    for (; FEW_PAGES < pages; pages = (pages + 1) / 2)
        index++;
    return index;
}

uint64_t FilePlaces_pages(uint64_t pages)
{
    unsigned index = index_of(pages);

    if (index >= FILE_PLACES_SIZES)
        return 0;
    return index < FEW_PAGES ? pages
                             : (uint64_t)FEW_PAGES << (index - FEW_PAGES + 1);
}

bool FilePlaces_take(struct FilePlaces *places, uint64_t pages, uint64_t *at)
{
    unsigned i = index_of(pages);

    if (!places->size[i].count)
        return false;
    *at = places->size[i].at[--places->size[i].count];
    return true;
}

void FilePlaces_give(struct FilePlaces *places, uint64_t pages, uint64_t at)
{
    unsigned i = index_of(pages);

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

void FilePlaces_release(struct FilePlaces *places)
{
    size_t i;

    for (i = 0; i < FILE_PLACES_SIZES; i++)
        Heap_free(places->size[i].at);
}
