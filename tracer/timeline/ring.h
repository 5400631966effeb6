// SPDX-License-Identifier: MIT
// Passes the timeline's events of one thread to the collector. The producer is
// the thread that counts hits, and there is one consumer at a time. If the ring
// is full and has an overflow callback, the producer empties the ring by this
// callback. Without a callback new events are dropped and counted, and the gap
// is marked before the next event that fits.
#ifndef OCULAR_TRACER_TIMELINE_RING_H
#define OCULAR_TRACER_TIMELINE_RING_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_EVENTS (1u << 16) // 1 MiB for each thread

enum EventKind {
    EVENT_ENTER,   // a call begins; what: Event_call
    EVENT_LEAVE,   // a call returns or yields; what: Event_call
    EVENT_RAISE,   // an exception leaves a call; what: Event_call
    EVENT_UNWOUND, // a call ended earlier, unnoticed; what: Event_call
    EVENT_LOOP,    // an iteration of a loop ended; what: Event_loop
    EVENT_DARK,    // the function's hooks were removed; what: Event_call
    EVENT_LOST,    // events were dropped here; what: their number
    EVENT_PARK,    // another greenlet runs now; the open calls pause
    EVENT_REOPEN,  // after EVENT_PARK: a call continues; what: Event_call
    EVENT_WAIT,    // other threads begin to run; what: for how many ticks
    EVENT_STEP,    // an instruction runs (precise mode); what: Event_step
    // The next events are marks of the program (mark.h).
    EVENT_TEXT,       // what: eight bytes of the next mark's text
    EVENT_MARK,       // what: the mark's number and the sizes of its texts
    EVENT_SPAN_BEGIN, // `what` as in EVENT_MARK, with the span's number
    EVENT_SPAN_END,   // `what` as in EVENT_SPAN_BEGIN
    // `what` as in EVENT_MARK, with the task's number. The newest call is a
    // step of this task.
    EVENT_TASK,
    // The next events are in the track of our own threads. The collector adds
    // the first three events.
    EVENT_COUNTER,
    EVENT_CHANGE,
    EVENT_REARMED, // the function is armed again; what: how long it was dark
    // EVENT_FRAME, EVENT_SAMPLE and EVENT_AT are samples (sample_track.h).
    EVENT_FRAME,  // a frame of a stack; what: depth and function
    EVENT_SAMPLE, // a sample; the earlier EVENT_FRAMEs give its stack
    // A call continues after a yield, or a call that had begun before the
    // function was armed is seen first; what: Event_call
    EVENT_RESUME,
    EVENT_AT // instruction of the next sample; what: Event_step
};

#define EVENT_KIND_BITS 5

struct Event {
    uint64_t when; // Event_when
    uint64_t what;
};

static inline uint64_t Event_when(uint64_t ticks, enum EventKind kind)
{
    return ticks << EVENT_KIND_BITS | kind;
}

static inline enum EventKind Event_kind(const struct Event *event)
{
    return (enum EventKind)(event->when & ((1u << EVENT_KIND_BITS) - 1));
}

// Returns true if a call is open after an event of this kind.
static inline bool EventKind_opens(enum EventKind kind)
{
    return kind == EVENT_ENTER || kind == EVENT_RESUME || kind == EVENT_REOPEN;
}

static inline uint64_t Event_ticks(const struct Event *event)
{
    return event->when >> EVENT_KIND_BITS;
}

// Packs a call's function and its level in the thread's shadow stack. Level 0
// is the outermost level.
static inline uint64_t Event_call(uint32_t id, unsigned level)
{
    return (uint64_t)level << 32 | id;
}

static inline uint32_t Event_id(const struct Event *event)
{
    return (uint32_t)event->what;
}

static inline unsigned Event_level(const struct Event *event)
{
    return (unsigned)(event->what >> 32);
}

// Packs an iteration of a loop in the innermost open call. `unit` is the code
// unit of the jump. Numbers of net cycles and instructions that are too large
// are replaced by the largest possible numbers.
static inline uint64_t Event_loop(uint64_t cycles, uint64_t instructions,
                                  unsigned unit)
{
    uint64_t c = cycles < UINT32_MAX ? cycles : UINT32_MAX;
    uint64_t n = instructions < UINT16_MAX ? instructions : UINT16_MAX;

    return (uint64_t)unit << 48 | n << 32 | c;
}

static inline uint64_t Event_cycles(const struct Event *event)
{
    return (uint32_t)event->what;
}

static inline unsigned Event_instructions(const struct Event *event)
{
    return (uint16_t)(event->what >> 32);
}

static inline unsigned Event_unit(const struct Event *event)
{
    return (unsigned)(event->what >> 48);
}

// Packs an instruction of the innermost open call. `line` is 0 if the
// instruction has no line.
static inline uint64_t Event_step(unsigned unit, uint8_t opcode, uint32_t line)
{
    return (uint64_t)opcode << 48 | (uint64_t)(unit & 0xffff) << 32 | line;
}

// A callback that makes room in a full ring. The producer calls `drain`.
struct RingOverflow {
    void (*drain)(void *context, void *producer); // if NULL, events are dropped
    void *context;
};

struct Ring {
    // The cache line of the producer.
    _Atomic uint64_t head; // number of written events; stored with release,
                           // read by the consumer
    uint64_t limit; // until `head` reaches this number, `tail` need not be read
    uint64_t gap;   // events that were dropped since the newest event
    struct Event *events;
    sem_t *half_full; // posted when the ring is half full; or NULL
    const struct RingOverflow *overflow; // borrowed, set by the owner; or NULL
    void *producer;                      // argument of the overflow's callback
    _Atomic uint64_t lost;               // number of all dropped events
    // The cache line of the consumer.
    _Alignas(
        64) _Atomic uint64_t tail; // stored with release, read by the producer
};

// Returns NULL if memory is out. `half_full` is borrowed and may be NULL.
struct Ring *Ring_new(sem_t *half_full);
void Ring_free(struct Ring *ring);
// Empties the ring. No thread may push or peek during the call.
void Ring_clear(struct Ring *ring);
// Pushes an event if `head` has reached `limit`. Reads `tail` to find room, and
// marks a gap first. If there is no room, drops the event.
void Ring_push_slow(struct Ring *ring, struct Event event);

static inline void Ring_push(struct Ring *ring, uint64_t ticks,
                             enum EventKind kind, uint64_t what)
{
    struct Event event = {Event_when(ticks, kind), what};
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    if (__builtin_expect(head == ring->limit, 0)) {
        Ring_push_slow(ring, event);
        return;
    }
    ring->events[head % RING_EVENTS] = event;
    // This store pairs with the acquire in Ring_peek.
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

// The consumer calls the next two functions. Ring_peek gives a part of the
// events in place, at most up to the end of the array. Ring_pop removes `count`
// events. Afterwards Ring_peek gives the next part.
size_t Ring_peek(struct Ring *ring, const struct Event **events);
void Ring_pop(struct Ring *ring, size_t count);

#endif
