// SPDX-License-Identifier: MIT
// Encodes the events of a recording, in 6 to 8 bytes for each event. An encoded
// event is three numbers, each stored with seven bits in a byte (LEB128). The
// first number contains the event's kind and the ticks since the event before.
// The second and the third number are the two halves of the event's `what`. Any
// thread may call the functions of event_code.h.
#pragma once

#include "tracer/timeline/ring.h"

#include <stddef.h>

#define EVENT_CODE_MOST 20u // Largest number of bytes of an encoded event.
// No encoded event begins with this byte. EVENT_CODE_PAD fills up the data to a
// multiple of 8 bytes.
#define EVENT_CODE_PAD ((1u << EVENT_KIND_BITS) - 1)

// Decodes at most `most` events, and stops at an incomplete event. Returns the
// number of decoded events. If `events` is NULL, only counts the events.
size_t EventCode_read(const uint8_t *from, size_t size, struct Event *events,
                      size_t most);

static inline uint8_t *EventCode_number(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

// Moves the sign of a difference of times to the lowest bit. A small difference
// then needs few bits, even if it is negative.
static inline uint64_t EventCode_fold(uint64_t difference)
{
    int64_t sign = (int64_t)(difference << EVENT_KIND_BITS) >> 63;

    difference = difference << 1 ^ (uint64_t)sign;
    return difference & ((UINT64_C(1) << (64 - EVENT_KIND_BITS)) - 1);
}

// Writes the event to `to`, in at most EVENT_CODE_MOST bytes, and returns the
// address after the written bytes. *ticks is the time of the event before, or 0
// at the beginning of a block.
static inline uint8_t *EventCode_put(uint8_t *to, const struct Event *event,
                                     uint64_t *ticks)
{
    uint64_t now = Event_ticks(event), when = EventCode_fold(now - *ticks);

    to = EventCode_number(to, when << EVENT_KIND_BITS | Event_kind(event));
    to = EventCode_number(to, (uint32_t)event->what);
    *ticks = now;
    return EventCode_number(to, event->what >> 32);
}
