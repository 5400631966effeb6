// SPDX-License-Identifier: MIT
// See memory_pages.h.
#include "tracer/timeline/memory_pages.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <string.h>

static int make_room(struct MemoryPages *pages, uint64_t count)
{
    size_t room = pages->room ? pages->room : 64;
    struct MemoryPage *table;

    while (room < count)
        room *= 2;
    if (room == pages->room)
        return 0;
    table = Heap_resize(pages->pages, room * sizeof *table);
    if (!table)
        return -ENOMEM;
    memset(table + pages->room, 0, (room - pages->room) * sizeof *table);
    pages->pages = table;
    pages->room = room;
    return 0;
}

static uint64_t page_behind(uint64_t at)
{
    return (at + RECORDING_PAGE - 1) / RECORDING_PAGE;
}

int MemoryPages_add(struct MemoryPages *pages, uint64_t at, uint64_t size)
{
    uint64_t i, end = page_behind(at + size);
    int error = make_room(pages, end);

    for (i = at / RECORDING_PAGE; !error && i < end; i++) {
        struct MemoryPage *page = &pages->pages[i];

        if (!page->bytes) {
            page->bytes = Heap_zeroed(1, RECORDING_PAGE);
            pages->count += page->bytes != NULL;
        }
        page->users++;
        error = page->bytes ? 0 : -ENOMEM;
    }
    if (error) // drop the pages that were added before
        MemoryPages_drop(pages, at, i * RECORDING_PAGE - at);
    return error;
}

void MemoryPages_drop(struct MemoryPages *pages, uint64_t at, uint64_t size)
{
    uint64_t i;

    for (i = at / RECORDING_PAGE; i < page_behind(at + size); i++)
        if (!--pages->pages[i].users)
            MemoryPages_remove(pages, i * RECORDING_PAGE);
}

uint8_t *MemoryPages_find(const struct MemoryPages *pages, uint64_t at)
{
    uint64_t page = at / RECORDING_PAGE;

    if (page >= pages->room || !pages->pages[page].bytes)
        return NULL;
    return pages->pages[page].bytes + at % RECORDING_PAGE;
}

uint64_t MemoryPages_next(const struct MemoryPages *pages, uint64_t at)
{
    uint64_t page = page_behind(at);

    if (MemoryPages_find(pages, at))
        return at;
    while (page < pages->room && !pages->pages[page].bytes)
        page++;
    return page < pages->room ? page * RECORDING_PAGE : UINT64_MAX;
}

void MemoryPages_remove(struct MemoryPages *pages, uint64_t at)
{
    struct MemoryPage *page = &pages->pages[at / RECORDING_PAGE];

    pages->count -= page->bytes != NULL;
    Heap_free(page->bytes);
    *page = (struct MemoryPage){0};
}

void MemoryPages_release(struct MemoryPages *pages)
{
    size_t page;

    for (page = 0; page < pages->room; page++)
        Heap_free(pages->pages[page].bytes);
    Heap_free(pages->pages);
    *pages = (struct MemoryPages){0};
}
