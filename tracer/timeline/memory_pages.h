// SPDX-License-Identifier: MIT
// Holds pages of a recording in memory. A page is in memory if the recording
// has no file, or if the page could not be written to the file. The recording's
// mutex guards struct MemoryPages.
#pragma once

#include "tracer/timeline/recording_format.h"

struct MemoryPage {
    // Number of the page, counted from the file's beginning.
    uint64_t number : 52;
    // Number of blocks that have bytes in this page and were not dropped.
    uint64_t users : 12;
    uint8_t *bytes; // The page's bytes, or NULL if the page is not in memory.
};

struct MemoryPages {
    struct MemoryPage *pages; // Sorted by `number`.
    size_t room;              // Number of entries for which `pages` has memory.
    size_t used;              // Number of entries in `pages`.
    size_t count;             // Number of pages in memory.
};

// Adds the pages of a place in the file, filled with zeros, if they are not in
// memory yet. Returns 0 or -ENOMEM.
int MemoryPages_add(struct MemoryPages *pages, uint64_t at, uint64_t size);
// MemoryPages_drop is called when a place in the file is not needed any more. A
// page is freed when its last place is dropped.
void MemoryPages_drop(struct MemoryPages *pages, uint64_t at, uint64_t size);
// Returns the address of the byte at the offset `at`. The caller may use the
// bytes from there to the end of the page. Returns NULL if the page is not in
// memory.
uint8_t *MemoryPages_find(const struct MemoryPages *pages, uint64_t at);
// Returns the offset of the next byte, at `at` or after it, that is in memory.
// Returns UINT64_MAX if there is none.
uint64_t MemoryPages_next(const struct MemoryPages *pages, uint64_t at);
void MemoryPages_remove(struct MemoryPages *pages, uint64_t at);
void MemoryPages_release(struct MemoryPages *pages);

// Returns the number of bytes from `at` to the end of its page, but at most
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
