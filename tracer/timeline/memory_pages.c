// SPDX-License-Identifier: MIT
// The table `pages` is sorted by the numbers of the pages. A removed page keeps
// its entry in the table, with `bytes` NULL, until the table is full.
#include "tracer/timeline/memory_pages.h"
#include "ipc/base/array.h"

#include <errno.h>
#include <string.h>

#define FIRST_ROOM 64u // Entries of a new table.

static uint64_t page_behind(uint64_t at)
{
    return (at + RECORDING_PAGE - 1) / RECORDING_PAGE;
}

// Returns the index of the first entry whose page number is `page` or higher.
static size_t lower_bound(const struct MemoryPages *pages, uint64_t page)
{
    return ARRAY_BOUND(pages->used, pages->pages[middle].number < page);
}

static struct MemoryPage *find(const struct MemoryPages *pages, uint64_t page)
{
    size_t i = lower_bound(pages, page);

    return i < pages->used && pages->pages[i].number == page ? &pages->pages[i]
                                                             : NULL;
}

// Removes the entries whose page is not in memory.
static void squeeze(struct MemoryPages *pages)
{
    size_t i, used = 0;

    for (i = 0; i < pages->used; i++)
        if (pages->pages[i].bytes)
            pages->pages[used++] = pages->pages[i];
    pages->used = used;
}

// Enlarges the table if it is full, for one more entry. Returns 0 or -ENOMEM.
static int make_room(struct MemoryPages *pages)
{
    size_t room = pages->room ? 2 * pages->room : FIRST_ROOM;
    struct MemoryPage *table;

    if (pages->used < pages->room)
        return 0;
    if (pages->count <= pages->room / 2)
        squeeze(pages);
    if (pages->used < pages->room)
        return 0;
    table = Heap_resize(pages->pages, room * sizeof *table);
    if (!table)
        return -ENOMEM;
    pages->pages = table;
    pages->room = room;
    return 0;
}

// Returns the entry of the page, which is added if it is missing, or NULL if
// memory is out. Most new pages come last in the table.
static struct MemoryPage *insert(struct MemoryPages *pages, uint64_t page)
{
    struct MemoryPage *found = find(pages, page);
    size_t i;

    if (found)
        return found;
    if (make_room(pages))
        return NULL;
    i = lower_bound(pages, page);
    found = &pages->pages[i];
    memmove(found + 1, found, (pages->used - i) * sizeof *found);
    *found = (struct MemoryPage){.number = page};
    pages->used++;
    return found;
}

// Adds one page of a place in the file. Returns 0 or -ENOMEM.
static int add_page(struct MemoryPages *pages, uint64_t number)
{
    struct MemoryPage *page = insert(pages, number);

    if (!page)
        return -ENOMEM;
    if (!page->bytes) {
        page->bytes = Heap_zeroed(1, RECORDING_PAGE);
        if (!page->bytes)
            return -ENOMEM;
        pages->count++;
    }
    page->users++;
    return 0;
}

int MemoryPages_add(struct MemoryPages *pages, uint64_t at, uint64_t size)
{
    uint64_t i, first = at / RECORDING_PAGE, end = page_behind(at + size);

    for (i = first; i < end; i++) {
        if (!add_page(pages, i))
            continue;
        if (i > first) // Drop the pages of this place that were already added.
            MemoryPages_drop(pages, at, i * RECORDING_PAGE - at);
        return -ENOMEM;
    }
    return 0;
}

void MemoryPages_drop(struct MemoryPages *pages, uint64_t at, uint64_t size)
{
    uint64_t i;

    for (i = at / RECORDING_PAGE; i < page_behind(at + size); i++)
        if (!--find(pages, i)->users)
            MemoryPages_remove(pages, i * RECORDING_PAGE);
}

uint8_t *MemoryPages_find(const struct MemoryPages *pages, uint64_t at)
{
    const struct MemoryPage *page = find(pages, at / RECORDING_PAGE);

    return page && page->bytes ? page->bytes + at % RECORDING_PAGE : NULL;
}

uint64_t MemoryPages_next(const struct MemoryPages *pages, uint64_t at)
{
    size_t i = lower_bound(pages, page_behind(at));

    if (MemoryPages_find(pages, at))
        return at;
    while (i < pages->used && !pages->pages[i].bytes)
        i++;
    return i < pages->used ? pages->pages[i].number * RECORDING_PAGE
                           : UINT64_MAX;
}

void MemoryPages_remove(struct MemoryPages *pages, uint64_t at)
{
    struct MemoryPage *page = find(pages, at / RECORDING_PAGE);

    pages->count -= page->bytes != NULL;
    Heap_free(page->bytes);
    page->bytes = NULL;
    page->users = 0;
}

void MemoryPages_release(struct MemoryPages *pages)
{
    size_t i;

    for (i = 0; i < pages->used; i++)
        Heap_free(pages->pages[i].bytes);
    Heap_free(pages->pages);
    *pages = (struct MemoryPages){0};
}
