// SPDX-License-Identifier: MIT
// The timeline's events of one thread on their way to the collector: a single
// producer (the thread that counts its hits), a single consumer at a time. The
// producer of a full ring has it emptied, if nothing is to be lost; else the
// ring drops new events, counts them, and marks the gap before the next event
// that fits.
#ifndef OCULAR_TRACER_TIMELINE_RING_H
#define OCULAR_TRACER_TIMELINE_RING_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_EVENTS (1u << 16) // 1 MiB a thread

enum EventKind {
    EVENT_ENTER,   // what: Event_call
    EVENT_LEAVE,   // returned or yielded; Event_call
    EVENT_RAISE,   // left by an exception; Event_call
    EVENT_UNWOUND, // left unseen, some time before; Event_call
    EVENT_LOOP,    // an iteration ended; Event_loop
    EVENT_DARK,    // the function's hooks came out; Event_call
    EVENT_LOST,    // what: number of events dropped here
    EVENT_PARK,    // the stack is another greenlet's now: what is open stops
    EVENT_REOPEN,  // after it: this call goes on here; Event_call
    EVENT_WAIT,    // a span begins in which others run; what: its ticks
    EVENT_STEP,    // an instruction runs, of precise mode; Event_step
    // What the program says itself (mark.h).
    EVENT_TEXT,       // what: eight bytes of what the next mark says
    EVENT_MARK,       // what: number and sizes
    EVENT_SPAN_BEGIN, // the same; its number is this span's
    EVENT_SPAN_END,   // the same
    EVENT_TASK,       // the same, of the hook: the call that was entered just
                      // now is a step of that task
    // In the track of our own threads: the collector's observations,
    EVENT_COUNTER,
    EVENT_CHANGE,
    EVENT_REARMED, // the function's hooks are in again; how long they were not
    // and samples (sample_track.h).
    EVENT_FRAME,  // what: depth, function
    EVENT_SAMPLE, // of the stack that the frames before make
    EVENT_RESUME, // a call goes on: after a yield, or one that had begun
                  // before it was armed; else as EVENT_ENTER
    EVENT_AT      // where the next sample was; Event_step
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

// Is a call open from then on?
static inline bool EventKind_opens(enum EventKind kind)
{
    return kind == EVENT_ENTER || kind == EVENT_RESUME || kind == EVENT_REOPEN;
}

static inline uint64_t Event_ticks(const struct Event *event)
{
    return event->when >> EVENT_KIND_BITS;
}

// A call's function and its level in the thread's shadow stack (0 = bottom).
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

// An iteration of a loop of the innermost open function: net cycles
// (saturated), instructions (saturated), the code unit of the jump.
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

// An instruction of the innermost open function: its opcode and code unit, and
// its line, 0 = none.
static inline uint64_t Event_step(unsigned unit, uint8_t opcode, uint32_t line)
{
    return (uint64_t)opcode << 48 | (uint64_t)(unit & 0xffff) << 32 | line;
}

// Makes room in a full ring; the producer calls it.
struct RingOverflow {
    void (*drain)(void *context, void *producer); // NULL: events are dropped
    void *context;
};

struct Ring {
    // The producer's line.
    _Atomic uint64_t head; // events ever written; release, read by consumer
    uint64_t limit;        // head may grow up to here without a look at tail
    uint64_t gap;          // dropped since the newest event
    struct Event *events;
    sem_t *half_full; // posted when it is, so that somebody comes; or NULL
    const struct RingOverflow
        *overflow;         // NULL: none; borrowed, set by the owner
    void *producer;        // argument of the overflow's callback
    _Atomic uint64_t lost; // dropped in all
    // The consumer's line.
    _Alignas(64) _Atomic uint64_t tail; // release, read by the producer
};

// NULL when memory is out. half_full is borrowed, and may be NULL.
struct Ring *Ring_new(sem_t *half_full);
void Ring_free(struct Ring *ring);
// Empties the ring and clears the pages that it has touched; while no thread
// pushes or peeks.
void Ring_clear(struct Ring *ring);
// Room was not known of: looks for it, marks a gap; drops if there is none.
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
    // Pairs with the acquire in Ring_peek.
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

// The consumer: a run of events in place (it may be only the part up to the
// ring's end; ask again after Ring_pop), then how many of them are done with.
size_t Ring_peek(struct Ring *ring, const struct Event **events);
void Ring_pop(struct Ring *ring, size_t count);

#endif
