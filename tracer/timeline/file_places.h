// SPDX-License-Identifier: MIT
// Keeps the free places of a recording's file by size. The sizes are 1 to 16
// units, then multiples of 16 up to 128, then powers of two. The recording's
// mutex guards the places.
#ifndef OCULAR_TRACER_TIMELINE_FILE_PLACES_H
#define OCULAR_TRACER_TIMELINE_FILE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// number of sizes, the largest of which is 2^31 bytes
#define FILE_PLACES_SIZES 39u

struct FilePlaces {
    struct {
        uint64_t *at;
        size_t count, room;
    } size[FILE_PLACES_SIZES];
};

// Returns the smallest size that is at least `units`, or 0 if no size is large
// enough.
uint64_t FilePlaces_units(uint64_t units);
// Takes a free place of the size *units. If `larger` is true, the place may be
// larger, and *units is set to the size of the place. Returns false if there is
// no such place.
bool FilePlaces_take(struct FilePlaces *places, bool larger, uint64_t *units,
                     uint64_t *at);
// Adds a free place. If memory is out, the place is not used again.
void FilePlaces_give(struct FilePlaces *places, uint64_t units, uint64_t at);
// Joins neighbouring places to larger places. `may_join` is asked about two
// neighbours by their offsets. Returns true if places were joined.
bool FilePlaces_join(struct FilePlaces *places,
                     bool (*may_join)(void *context, uint64_t first,
                                      uint64_t second),
                     void *context);
// Moves all places of `from` to `to`.
void FilePlaces_move(struct FilePlaces *to, struct FilePlaces *from);
void FilePlaces_release(struct FilePlaces *places);

#endif
