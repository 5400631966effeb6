// SPDX-License-Identifier: MIT
// Keeps the free places in a recording's file, sorted by size. The sizes of
// free places are 1 to 16 units, then multiples of 16 up to 128, then powers of
// two. The recording's mutex guards struct FilePlaces.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Places have this number of different sizes, the largest of which is 2^31
// bytes.
#define FILE_PLACES_SIZES 39u

struct FilePlaces {
    struct {
        uint64_t *at;
        size_t count, room;
    } size[FILE_PLACES_SIZES];
};

// Returns the smallest size of a place that is at least `units`, or 0 if no
// size is large enough.
uint64_t FilePlaces_units(uint64_t units);
// Takes a free place with the size *units out of `places`. If `larger` is true,
// the place may be larger, and its size is stored in *units. Returns false if
// there is no place of a fitting size.
bool FilePlaces_take(struct FilePlaces *places, bool larger, uint64_t *units,
                     uint64_t *at);
// Adds a place that is free now to `places`. If memory is out, the place is
// never used again.
void FilePlaces_give(struct FilePlaces *places, uint64_t units, uint64_t at);
// Joins free places that are neighbours in the file to larger places.
// `may_join` decides about each two neighbours by their offsets. Returns true
// if some places were joined.
bool FilePlaces_join(struct FilePlaces *places,
                     bool (*may_join)(void *context, uint64_t first,
                                      uint64_t second),
                     void *context);
// Moves all places of `from` to `to`.
void FilePlaces_move(struct FilePlaces *to, struct FilePlaces *from);
void FilePlaces_release(struct FilePlaces *places);
