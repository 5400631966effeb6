// SPDX-License-Identifier: MIT
// Packs the events that the collector's thread adds to the timeline's track
// (row) of Ocular's own threads. The packed events are values of counters,
// changes of an instruction's specialisation, and ends of times in which a
// function had no hooks (was dark).
#pragma once

#include "tracer/timeline/ring.h"

enum OwnEventCounter {
    OWN_EVENT_CPU,      // A thread's use of a core, in millionths.
    OWN_EVENT_OVERHEAD, // Overhead in millionths of the program's CPU time.
    OWN_EVENT_ARMED,    // Number of installed hooks.
    OWN_EVENT_COUNTERS
};

// Threads with higher numbers have no counter.
#define OWN_EVENT_THREADS (1u << 20)

// Returns an event with the value of a counter at the time `ticks`. The value
// describes the last `ms` ms before the event. If `ms` is 0, the value
// describes the time of the event. `thread` is the number of the thread that
// the value describes.
static inline struct Event OwnEvent_counter(uint64_t ticks,
                                            enum OwnEventCounter which,
                                            unsigned ms, uint64_t value,
                                            unsigned thread)
{
    uint64_t most = (UINT64_C(1) << 24) - 1;

    return (struct Event){
        Event_when(ticks, EVENT_COUNTER),
        (uint64_t)which << 60 | (uint64_t)(ms & 0xffff) << 44 |
            (value < most ? value : most) << 20 | thread % OWN_EVENT_THREADS};
}

static inline enum OwnEventCounter OwnEvent_which(const struct Event *event)
{
    return (enum OwnEventCounter)(event->what >> 60);
}

static inline unsigned OwnEvent_ms(const struct Event *event)
{
    return (unsigned)(event->what >> 44 & 0xffff);
}

static inline uint64_t OwnEvent_value(const struct Event *event)
{
    return event->what >> 20 & ((UINT64_C(1) << 24) - 1);
}

static inline unsigned OwnEvent_thread(const struct Event *event)
{
    return (unsigned)(event->what % OWN_EVENT_THREADS);
}

// Returns an event for a change of opcode of an instruction in the function
// `id`. `line` is 0 if the instruction has no source line.
static inline struct Event OwnEvent_change(uint64_t ticks, uint32_t id,
                                           uint32_t line, uint8_t from,
                                           uint8_t to)
{
    return (struct Event){Event_when(ticks, EVENT_CHANGE),
                          (uint64_t)(line < UINT16_MAX ? line : 0) << 48 |
                              (uint64_t)from << 40 | (uint64_t)to << 32 | id};
}

static inline uint32_t OwnEvent_line(const struct Event *event)
{
    return (uint32_t)(event->what >> 48);
}

static inline uint8_t OwnEvent_from(const struct Event *event)
{
    return (uint8_t)(event->what >> 40);
}

static inline uint8_t OwnEvent_to(const struct Event *event)
{
    return (uint8_t)(event->what >> 32);
}

// Returns an event for the function `id`, which has its hooks again after
// `dark` ticks without them. The event stores the upper 27 bits of `dark` and a
// shift, so the stored number of ticks is too small by at most a 2^26th.
static inline struct Event OwnEvent_rearmed(uint64_t ticks, uint32_t id,
                                            uint64_t dark)
{
    uint64_t shift = 0;

    for (; dark >> 27; shift++)
        dark >>= 1;
    return (struct Event){Event_when(ticks, EVENT_REARMED),
                          shift << 59 | dark << 32 | id};
}

static inline uint64_t OwnEvent_dark_ticks(const struct Event *event)
{
    return (event->what >> 32 & ((1u << 27) - 1)) << (event->what >> 59);
}
