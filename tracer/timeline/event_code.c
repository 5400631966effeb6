// SPDX-License-Identifier: MIT
// See event_code.h.
#include "tracer/timeline/event_code.h"

#include <string.h>

#define TICKS_BITS (64 - EVENT_KIND_BITS)

static uint8_t *put(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

// NULL: it is cut off.
static const uint8_t *take(const uint8_t *from, const uint8_t *end,
                           uint64_t *value)
{
    unsigned shift;

    *value = 0;
    for (shift = 0; from < end && shift < 64; shift += 7) {
        *value |= (uint64_t)(*from & 0x7f) << shift;
        if (*from++ < 0x80)
            return from;
    }
    return NULL;
}

// The difference may be negative. Its sign becomes the lowest bit, so that a
// small one has few bits.
static uint64_t fold(uint64_t difference)
{
    int64_t sign = (int64_t)(difference << EVENT_KIND_BITS) >> 63;

    difference = difference << 1 ^ (uint64_t)sign;
    return difference & ((UINT64_C(1) << TICKS_BITS) - 1);
}

static uint64_t unfold(uint64_t folded)
{
    return folded >> 1 ^ -(folded & 1);
}

size_t EventCode_write(uint8_t *to, const struct Event *events, size_t count,
                       uint64_t *ticks)
{
    uint8_t *at = to;
    size_t i;

    for (i = 0; i < count; i++) {
        uint64_t now = Event_ticks(&events[i]);

        at = put(at, fold(now - *ticks) << EVENT_KIND_BITS |
                         Event_kind(&events[i]));
        at = put(at, (uint32_t)events[i].what);
        at = put(at, events[i].what >> 32);
        *ticks = now;
    }
    while ((size_t)(at - to) % 8)
        *at++ = EVENT_CODE_PAD;
    return (size_t)(at - to);
}

size_t EventCode_read(const uint8_t *from, size_t size, struct Event *events,
                      size_t most)
{
    const uint8_t *end = from + size;
    uint64_t ticks = 0, when, low, high;
    size_t count = 0;

    while (from < end && count < most) {
        if (*from == EVENT_CODE_PAD) {
            from++;
            continue;
        }
        from = take(from, end, &when);
        if (from)
            from = take(from, end, &low);
        if (from)
            from = take(from, end, &high);
        if (!from)
            break;
        ticks += unfold(when >> EVENT_KIND_BITS);
        if (events)
            events[count] = (struct Event){
                Event_when(ticks, when & ((1u << EVENT_KIND_BITS) - 1)),
                high << 32 | (uint32_t)low};
        count++;
    }
    return count;
}
