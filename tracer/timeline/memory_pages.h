// SPDX-License-Identifier: MIT
// Holds the pages of a recording that are in memory. These are the pages of a
// recording without a file, and pages that could not be written to the file.
// The recording's mutex guards the pages.
#ifndef OCULAR_TRACER_TIMELINE_MEMORY_PAGES_H
#define OCULAR_TRACER_TIMELINE_MEMORY_PAGES_H

#include "tracer/timeline/recording_format.h"

#include <stdbool.h>

struct MemoryPage {
    uint64_t number : 52; // the page's number in the file
    uint64_t users : 12;  // number of places in the page that were not dropped
    uint8_t *bytes;       // NULL if the page is not in memory
};

struct MemoryPages {
    struct MemoryPage *pages; // in the order of the numbers
    size_t room;              // number of allocated elements
    size_t used;              // number of elements
    size_t count;             // number of pages in memory
};

// Adds the missing pages of a place, filled with zeros. Returns 0 or -ENOMEM.
int MemoryPages_add(struct MemoryPages *pages, uint64_t at, uint64_t size);
// Drops a place. A page is freed when its last place is dropped.
void MemoryPages_drop(struct MemoryPages *pages, uint64_t at, uint64_t size);
// Returns the address of a byte, which is valid up to the end of its page. NULL
// if the page is not in memory.
uint8_t *MemoryPages_find(const struct MemoryPages *pages, uint64_t at);
// Returns the offset of the first byte in memory at or after `at`. Returns
// UINT64_MAX if there is no such byte.
uint64_t MemoryPages_next(const struct MemoryPages *pages, uint64_t at);
void MemoryPages_remove(struct MemoryPages *pages, uint64_t at);
void MemoryPages_release(struct MemoryPages *pages);

// Returns the number of bytes from `at` to the end of the page, but at most
// `size`.
static inline size_t MemoryPages_part(uint64_t at, size_t size)
{
    size_t left = (size_t)(RECORDING_PAGE - at % RECORDING_PAGE);

    return size < left ? size : left;
}

static inline size_t MemoryPages_bytes(const struct MemoryPages *pages)
{
    return pages->count * RECORDING_PAGE + pages->room * sizeof *pages->pages;
}

#endif
