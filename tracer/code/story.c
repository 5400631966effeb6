// SPDX-License-Identifier: MIT
// See story.h.
#include "tracer/code/story.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void Story_release(struct Story *story)
{
    Heap_free(story->known);
    memset(story, 0, sizeof *story);
}

size_t Story_bytes(const struct Story *story)
{
    return story->room * sizeof *story->known;
}

int Story_copy(struct Story *copy, const struct Story *story)
{
    *copy = *story;
    copy->room = story->count;
    if (!story->count) {
        copy->known = NULL;
        return 0;
    }
    copy->known = Heap_alloc(story->count * sizeof *copy->known);
    if (!copy->known)
        return -ENOMEM;
    memcpy(copy->known, story->known, story->count * sizeof *copy->known);
    return 0;
}

static int compare_unit(const void *unit, const void *entry)
{
    uint32_t a = *(const uint32_t *)unit;
    uint32_t b = ((const struct KnownOpcode *)entry)->unit;

    return (a > b) - (a < b);
}

static const struct KnownOpcode *find_known(const struct Story *story,
                                            uint32_t unit)
{
    return story->count ? bsearch(&unit, story->known, story->count,
                                  sizeof *story->known, compare_unit)
                        : NULL;
}

uint8_t Story_opcode(const struct Story *story, uint32_t unit, uint8_t base)
{
    const struct KnownOpcode *entry = find_known(story, unit);

    return entry ? entry->opcode : base;
}

bool Story_has(const struct Story *story, uint32_t unit)
{
    return find_known(story, unit) != NULL;
}
