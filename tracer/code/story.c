// SPDX-License-Identifier: MIT
// See story.h.
#include "tracer/code/story.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void Story_release(struct Story *story)
{
    Heap_free(story->spots);
    memset(story, 0, sizeof *story);
}

size_t Story_bytes(const struct Story *story)
{
    return story->room * sizeof *story->spots;
}

int Story_copy(struct Story *copy, const struct Story *story)
{
    *copy = *story;
    copy->room = story->count;
    if (!story->count) {
        copy->spots = NULL;
        return 0;
    }
    copy->spots = Heap_alloc(story->count * sizeof *copy->spots);
    if (!copy->spots)
        return -ENOMEM;
    memcpy(copy->spots, story->spots, story->count * sizeof *copy->spots);
    return 0;
}

static int compare_unit(const void *unit, const void *spot)
{
    uint32_t a = *(const uint32_t *)unit;
    uint32_t b = ((const struct Spot *)spot)->unit;

    return (a > b) - (a < b);
}

static const struct Spot *find_spot(const struct Story *story, uint32_t unit)
{
    return story->count ? bsearch(&unit, story->spots, story->count,
                                  sizeof *story->spots, compare_unit)
                        : NULL;
}

uint8_t Story_opcode(const struct Story *story, uint32_t unit, uint8_t base)
{
    const struct Spot *spot = find_spot(story, unit);

    return spot ? spot->opcode : base;
}

bool Story_has(const struct Story *story, uint32_t unit)
{
    return find_spot(story, unit) != NULL;
}
