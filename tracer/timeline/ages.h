// SPDX-License-Identifier: MIT
// Tracks by the age of their oldest chunk, so that the oldest of all lanes is
// found at once however many there are. A heap in which an age may be out of
// date: a chunk that is still filled grows younger. Under the timeline's mutex.
#ifndef OCULAR_TRACER_TIMELINE_AGES_H
#define OCULAR_TRACER_TIMELINE_AGES_H

#include "tracer/timeline/track.h"

struct Ages {
    struct Track **tracks; // from 1 on; their place is the index
    size_t count;
    size_t room;
};

void Ages_release(struct Ages *ages);
size_t Ages_bytes(const struct Ages *ages);
// The track has a chunk that may be forgotten. 0 or -ENOMEM.
int Ages_add(struct Ages *ages, struct Track *track);
// It has none any more. A track that is not there is no error.
void Ages_remove(struct Ages *ages, struct Track *track);
// The one with the oldest chunk; NULL when empty.
struct Track *Ages_oldest(struct Ages *ages);

#endif
