// SPDX-License-Identifier: MIT
// The events that the collector puts into the track of our own threads: values
// of counters, instructions that were seen to be specialised, and functions
// that are armed again, or gone, after they were dark.
#ifndef OCULAR_TRACER_TIMELINE_ASIDE_H
#define OCULAR_TRACER_TIMELINE_ASIDE_H

#include "tracer/timeline/ring.h"

enum AsideCounter {
    ASIDE_CPU,      // millionths of a core that the thread had
    ASIDE_OVERHEAD, // millionths of the program's CPU time
    ASIDE_ARMED,    // hooks that are in
    ASIDE_COUNTERS
};

#define ASIDE_THREADS (1u << 20) // threads of higher numbers are not counted

// Over so many ms before the event, or as of then; of the thread of that
// number.
static inline struct Event Aside_counter(uint64_t ticks,
                                         enum AsideCounter which, unsigned ms,
                                         uint64_t value, unsigned thread)
{
    uint64_t most = (UINT64_C(1) << 24) - 1;

    return (struct Event){
        Event_when(ticks, EVENT_COUNTER),
        (uint64_t)which << 60 | (uint64_t)(ms & 0xffff) << 44 |
            (value < most ? value : most) << 20 | thread % ASIDE_THREADS};
}

static inline enum AsideCounter Aside_which(const struct Event *event)
{
    return (enum AsideCounter)(event->what >> 60);
}

static inline unsigned Aside_ms(const struct Event *event)
{
    return (unsigned)(event->what >> 44 & 0xffff);
}

static inline uint64_t Aside_value(const struct Event *event)
{
    return event->what >> 20 & ((UINT64_C(1) << 24) - 1);
}

static inline unsigned Aside_thread(const struct Event *event)
{
    return (unsigned)(event->what % ASIDE_THREADS);
}

// An instruction of that function, on that line (0: none).
static inline struct Event Aside_change(uint64_t ticks, uint32_t id,
                                        uint32_t line, uint8_t from, uint8_t to)
{
    return (struct Event){Event_when(ticks, EVENT_CHANGE),
                          (uint64_t)(line < UINT16_MAX ? line : 0) << 48 |
                              (uint64_t)from << 40 | (uint64_t)to << 32 | id};
}

static inline uint32_t Aside_line(const struct Event *event)
{
    return (uint32_t)(event->what >> 48);
}

static inline uint8_t Aside_from(const struct Event *event)
{
    return (uint8_t)(event->what >> 40);
}

static inline uint8_t Aside_to(const struct Event *event)
{
    return (uint8_t)(event->what >> 32);
}

// A function that was dark for so many ticks. They are a number of 27 bits and
// how far it is shifted: too few by a 2^26th at most.
static inline struct Event Aside_rearmed(uint64_t ticks, uint32_t id,
                                         uint64_t dark)
{
    uint64_t shift = 0;

    for (; dark >> 27; shift++)
        dark >>= 1;
    return (struct Event){Event_when(ticks, EVENT_REARMED),
                          shift << 59 | dark << 32 | id};
}

static inline uint64_t Aside_dark_ticks(const struct Event *event)
{
    return (event->what >> 32 & ((1u << 27) - 1)) << (event->what >> 59);
}

#endif
