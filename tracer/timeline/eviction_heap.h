// SPDX-License-Identifier: MIT
// Tracks by the age of their oldest chunk in memory, so that the oldest of all
// threads is found at once however many there are. A heap in which an age may
// be out of date: a chunk that is still filled grows younger. Under the
// timeline's mutex.
#ifndef OCULAR_TRACER_TIMELINE_EVICTION_HEAP_H
#define OCULAR_TRACER_TIMELINE_EVICTION_HEAP_H

#include "tracer/timeline/track.h"

struct EvictionHeap {
    struct Track **tracks; // from 1 on; their place is the index
    size_t count;
    size_t room;
};

void EvictionHeap_release(struct EvictionHeap *heap);
size_t EvictionHeap_bytes(const struct EvictionHeap *heap);
// The track has a chunk in memory that may leave it. 0 or -ENOMEM.
int EvictionHeap_add(struct EvictionHeap *heap, struct Track *track);
// It has none any more. A track that is not there is no error.
void EvictionHeap_remove(struct EvictionHeap *heap, struct Track *track);
// The one with the oldest chunk; NULL when empty.
struct Track *EvictionHeap_oldest(struct EvictionHeap *heap);

#endif
