// SPDX-License-Identifier: MIT
// Encodes events for a recording, in 6 to 8 bytes each. An event is three
// numbers with seven bits in each byte (LEB128). The first number contains the
// kind and the ticks since the last event. The other two numbers are the halves
// of `what`. Any thread may call this code.
#ifndef OCULAR_TRACER_TIMELINE_EVENT_CODE_H
#define OCULAR_TRACER_TIMELINE_EVENT_CODE_H

#include "tracer/timeline/ring.h"

#include <stddef.h>

#define EVENT_CODE_MOST 20u // largest number of bytes of an event
// A byte that begins no event. Such bytes fill up the data to a multiple of 8.
#define EVENT_CODE_PAD ((1u << EVENT_KIND_BITS) - 1)

// Decodes at most `most` events, up to the first event that is incomplete.
// Returns the number of decoded events. If `events` is NULL, only counts the
// events.
size_t EventCode_read(const uint8_t *from, size_t size, struct Event *events,
                      size_t most);

static inline uint8_t *EventCode_number(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

// Moves the sign of the difference, which may be negative, to the lowest bit.
// So a small difference has few bits, even if it is negative.
static inline uint64_t EventCode_fold(uint64_t difference)
{
    int64_t sign = (int64_t)(difference << EVENT_KIND_BITS) >> 63;

    difference = difference << 1 ^ (uint64_t)sign;
    return difference & ((UINT64_C(1) << (64 - EVENT_KIND_BITS)) - 1);
}

// Writes the event to `to`, in at most EVENT_CODE_MOST bytes, and returns the
// end of the written bytes. *ticks is the time of the last event, or 0 at the
// beginning of a block.
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
