// SPDX-License-Identifier: MIT
// Places in a file that are free, by size: each number of units up to 16, then
// its multiples up to 128, then powers of two. The recording's, under its
// mutex.
#ifndef OCULAR_TRACER_TIMELINE_FILE_PLACES_H
#define OCULAR_TRACER_TIMELINE_FILE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_PLACES_SIZES 39u // up to 2^31 bytes

struct FilePlaces {
    struct {
        uint64_t *at;
        size_t count, room;
    } size[FILE_PLACES_SIZES];
};

// So many units and perhaps some more, which a place has; 0: too many.
uint64_t FilePlaces_units(uint64_t units);
// Takes a free place of that size, or, if `larger` do, of the next size that
// there is; *units are those of the place. false: there is none.
bool FilePlaces_take(struct FilePlaces *places, bool larger, uint64_t *units,
                     uint64_t *at);
// If memory is out the place is not used again.
void FilePlaces_give(struct FilePlaces *places, uint64_t units, uint64_t at);
void FilePlaces_release(struct FilePlaces *places);

#endif
