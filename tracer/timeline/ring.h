// SPDX-License-Identifier: MIT
// Passes the timeline's events of one thread to the collector's thread. The
// thread that counts hits pushes the events, and only one thread at a time
// takes them. A full ring is emptied by the pushing thread, if the ring has an
// overflow callback for this. New events are dropped and counted if a full ring
// has no callback. The next event that fits is preceded by an EVENT_LOST, which
// marks the gap.
#pragma once

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_EVENTS (1u << 16) // Each thread has a ring of 1 MiB.

enum EventKind {
    EVENT_ENTER, // A call begins (`what` is an Event_call).
    EVENT_LEAVE, // A call returns or yields (`what` is an Event_call).
    EVENT_RAISE, // An exception leaves a call (`what` is an Event_call).
    // A call ended earlier without an event (`what` is an Event_call).
    EVENT_UNWOUND,
    EVENT_LOOP, // An iteration of a loop ended (`what` is an Event_loop).
    // The function's hooks were removed (`what` is an Event_call).
    EVENT_DARK,
    EVENT_LOST, // Events were dropped here (`what` is their number).
    // Another greenlet runs from now on. The open calls pause.
    EVENT_PARK,
    // After EVENT_PARK, a call continues (`what` is an Event_call).
    EVENT_REOPEN,
    // Other threads begin to run (`what` is the number of ticks for which they
    // run).
    EVENT_WAIT,
    // An instruction runs, in precise mode (`what` is an Event_step).
    EVENT_STEP,
    // The events from EVENT_TEXT to EVENT_TASK are marks of the program
    // (mark.h).
    // A part of the next mark's text (`what` is eight bytes of it).
    EVENT_TEXT,
    // A mark (`what` is its number and the sizes of its texts).
    EVENT_MARK,
    // A span of the program begins (`what` is as in EVENT_MARK, with the span's
    // number).
    EVENT_SPAN_BEGIN,
    // A span of the program ends (`what` is as in EVENT_SPAN_BEGIN).
    EVENT_SPAN_END,
    // A step of an asyncio task begins (`what` is as in EVENT_MARK, with the
    // task's number). The newest open call is a step of this task.
    EVENT_TASK,
    // The events from EVENT_COUNTER to EVENT_SAMPLE are in the track (row) of
    // Ocular's own threads. The collector's thread adds EVENT_COUNTER and the
    // two kinds after it.
    EVENT_COUNTER,
    EVENT_CHANGE,
    // A function has its hooks again (`what` is the time without hooks).
    EVENT_REARMED,
    // EVENT_FRAME, EVENT_SAMPLE, EVENT_AT and EVENT_OFF_CPU store samples and
    // waits (sample_track.h).
    // A frame of a sample's stack (`what` is its depth and function).
    EVENT_FRAME,
    EVENT_SAMPLE, // A sample, whose stack is in the EVENT_FRAMEs before.
    // A call continues after a yield, or is seen for the first time because its
    // function had no hooks when it began (`what` is an Event_call).
    EVENT_RESUME,
    EVENT_AT, // The instruction of the next sample (`what` is an Event_step).
    // A thread was off the CPU. The EVENT_FRAMEs before have its stack, and
    // `what` has the wait (sample_track.h).
    EVENT_OFF_CPU
};

#define EVENT_KIND_BITS 5

struct Event {
    uint64_t when; // Ticks and kind, packed by Event_when.
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

// Returns true if an event of the kind `kind` opens a call.
static inline bool EventKind_opens(enum EventKind kind)
{
    return kind == EVENT_ENTER || kind == EVENT_RESUME || kind == EVENT_REOPEN;
}

static inline uint64_t Event_ticks(const struct Event *event)
{
    return event->when >> EVENT_KIND_BITS;
}

// Packs a call's function and its level in the thread's shadow stack (Ocular's
// copy of the stack). The outermost call of a thread has level 0.
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

// Packs an iteration of a loop in the innermost open call. `unit` is the number
// of the jump's code unit. If the number of net cycles or of instructions is
// too large, the largest number that fits is stored.
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
// instruction has no source line.
static inline uint64_t Event_step(unsigned unit, uint8_t opcode, uint32_t line)
{
    return (uint64_t)opcode << 48 | (uint64_t)(unit & 0xffff) << 32 | line;
}

// A callback that makes room in a full ring. The thread that pushes events
// calls `drain`.
struct RingOverflow {
    // If NULL, new events of a full ring are dropped.
    void (*drain)(void *context, void *producer);
    void *context;
};

struct Ring {
    // The fields from `head` to `lost` are in the cache line of the thread that
    // pushes. `head` is the number of written events, which is stored with
    // release and read by the thread that takes events.
    _Atomic uint64_t head;
    // As long as `head` is below this number, the pushing thread need not read
    // `tail`.
    uint64_t limit;
    uint64_t gap; // Number of events that were dropped since the newest event.
    struct Event *events;
    // Semaphore that is posted when the ring is half full, or NULL.
    sem_t *half_full;
    // The creator of the ring owns and sets this callback. `overflow` is NULL
    // if there is no callback.
    const struct RingOverflow *overflow;
    void *producer; // Argument of the overflow callback.
    // Number of all events that the ring has dropped.
    _Atomic uint64_t lost;
    // `tail` is in the cache line of the thread that takes events. `tail` is
    // the number of taken events, is stored with release, and is read by the
    // pushing thread.
    _Alignas(64) _Atomic uint64_t tail;
};

// Returns NULL if memory is out. The caller still owns `half_full`, which may
// be NULL.
struct Ring *Ring_new(sem_t *half_full);
void Ring_free(struct Ring *ring);
// Pushes an event when `head` has reached `limit`. Ring_push_slow reads `tail`
// to find free slots, and marks a gap before it pushes the event. Drops the
// event if there is no free slot.
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
    // The release pairs with the acquire in Ring_peek.
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

// The thread that takes events calls Ring_peek and Ring_pop. Ring_peek stores
// in *events the address of the next events, which are in the ring itself, and
// returns their number. Events after the end of the ring's array come with the
// next call. Ring_pop removes `count` events. After Ring_pop, Ring_peek returns
// the events that follow.
size_t Ring_peek(struct Ring *ring, const struct Event **events);
void Ring_pop(struct Ring *ring, size_t count);
