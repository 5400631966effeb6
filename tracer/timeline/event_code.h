// SPDX-License-Identifier: MIT
// Events as a recording has them, in 6 to 8 bytes each: three numbers of seven
// bits a byte (LEB128), of which the first has the ticks since the event before
// and the kind, and the others the halves of `what`. Any thread.
#ifndef OCULAR_TRACER_TIMELINE_EVENT_CODE_H
#define OCULAR_TRACER_TIMELINE_EVENT_CODE_H

#include "tracer/timeline/ring.h"

#include <stddef.h>

#define EVENT_CODE_MOST 20u // bytes of an event
// A byte that is none: what is appended at one time is a multiple of 8.
#define EVENT_CODE_PAD ((1u << EVENT_KIND_BITS) - 1)

// Writes them from there on, which takes EVENT_CODE_MOST bytes for each and 7
// more. *ticks are those of the event before, 0 at the beginning. The number of
// bytes.
size_t EventCode_write(uint8_t *to, const struct Event *events, size_t count,
                       uint64_t *ticks);
// Reads at most so many, and what is whole of them. `events` may be NULL, to
// count them. Their number.
size_t EventCode_read(const uint8_t *from, size_t size, struct Event *events,
                      size_t most);

#endif
