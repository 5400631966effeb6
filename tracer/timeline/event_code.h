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

// Reads at most so many, and what is whole of them. `events` may be NULL, to
// count them. Their number.
size_t EventCode_read(const uint8_t *from, size_t size, struct Event *events,
                      size_t most);

static inline uint8_t *EventCode_number(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

// The difference may be negative. Its sign becomes the lowest bit, so that a
// small one has few bits.
static inline uint64_t EventCode_fold(uint64_t difference)
{
    int64_t sign = (int64_t)(difference << EVENT_KIND_BITS) >> 63;

    difference = difference << 1 ^ (uint64_t)sign;
    return difference & ((UINT64_C(1) << (64 - EVENT_KIND_BITS)) - 1);
}

// Writes it there, which takes EVENT_CODE_MOST bytes at most. *ticks are those
// of the event before, 0 at a block's beginning. The end of what it has
// written.
static inline uint8_t *EventCode_put(uint8_t *to, const struct Event *event,
                                     uint64_t *ticks)
{
    uint64_t now = Event_ticks(event), when = EventCode_fold(now - *ticks);

    to = EventCode_number(to, when << EVENT_KIND_BITS | Event_kind(event));
    to = EventCode_number(to, (uint32_t)event->what);
    *ticks = now;
    return EventCode_number(to, event->what >> 32);
}

#endif
