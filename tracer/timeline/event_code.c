// SPDX-License-Identifier: MIT
#include "tracer/timeline/event_code.h"

// Reads a number at `from` and returns the address after the number, or NULL if
// the number is incomplete.
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

static uint64_t unfold(uint64_t folded)
{
    return folded >> 1 ^ -(folded & 1);
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
