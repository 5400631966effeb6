// SPDX-License-Identifier: MIT
// The record of one traced thread: its net clock, its shadow stack and its
// ring. Its events: a call begins or ends (thread_trace_call.h), a block or an
// instruction ends (thread_trace_block.h); here is their common part, and rare
// events. Only the thread that holds the counting lock (counting.h) runs it,
// long after the event perhaps: each comes with its time.
//
// Net clock: every hook adds its own calibrated cost to `overhead`. Time is the
// CPU's counter less the overhead, so every difference of two times is net of
// the hooks between them.
// Depth stamps: a frame carries the interpreter's recursion depth; an event at
// depth d closes every frame that must have gone before it, so that frames
// which left unseen (dark leave sites, attaching in mid-run) heal by
// themselves.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACE_H
#define OCULAR_TRACER_HOOK_THREAD_TRACE_H

#include "tracer/code/code.h"
#include "tracer/hook/contention.h"
#include "tracer/hook/frame.h"
#include "tracer/hook/preemption.h"
#include "tracer/hook/stacks.h"
#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define THREAD_TRACE_ACTIVE 1024 // counters of open frames: id modulo this
#define THREAD_TRACE_LOOPS 64    // nested loops followed for the timeline

struct Track;

// An iteration that is under way, of a loop that has jumped back before. Its
// frame is identified by its place and its time.
struct Loop {
    int64_t enter; // its frame's
    int64_t start; // net clock
    uint32_t number;
    uint32_t instructions;
    uint16_t head; // number of the instruction it jumps to
};

struct ThreadTrace {
    struct Frame *top; // the bottom one is a sentinel of depth 0
    int64_t last;      // net clock of the newest event
    struct Contention *contention;
    const int64_t *cost; // ticks of each kind of hook; that of all records
    struct Ring *ring;   // NULL unless a timeline is wanted
    struct Frame *limit;
    struct Frame *bottom;
    // The newest chunk of the interpreter's data stack, as the last event that
    // was counted at once found it. Another one is asked about: it may be
    // another stack's (switch.h).
    uintptr_t chunk;
    counter_t overhead;         // ticks spent in hooks
    counter_t unwound;          // frames that left unseen
    _Atomic size_t stack_bytes; // of all its stacks
    struct Registry *registry;
    uint16_t loop_count;
    struct Loop loops[THREAD_TRACE_LOOPS];
    uint32_t active[THREAD_TRACE_ACTIVE]; // on all its stacks

    // Not of each hit.
    counter_t stolen; // ticks of `overhead` in which other programs had the
                      // CPU: neither the program's time nor our cost
    int64_t taken;    // ticks that others had the CPU for in the span that ends
                      // with the next event
    struct Preemption preemption; // its own thread's, with the interpreter's
                                  // lock
    struct Stack *stack;  // the one that top, limit and bottom are of; they are
                          // written back when it is parked
    struct Stack *spare;  // an empty one for the next greenlet, or NULL
    struct Stacks parked; // those of greenlets that do not run now
    unsigned number;
    // The interpreter's thread state that it was seen with last, 0: none. Its
    // signal handler reads it; these three are under the interpreter's lock.
    _Atomic uintptr_t state;
    uint64_t state_id;    // what that is: addresses are used again
    uint64_t state_ticks; // when it was seen
    uintptr_t ident;      // its pthread_t
    pid_t tid;
    char name[64];         // under ThreadTraces.mutex
    unsigned name_asks;    // left, until the program has named it; its thread's
    struct Track *track;   // in the timeline, NULL = not yet; the collector's,
                           // as are the next two
    uint64_t counted_ns;   // CPU time at the last counter of the timeline
    bool counted_busy;     // it had used some
    uint64_t cpu_start_ns; // of its thread's CPU clock; under the same mutex
    uint64_t cpu_end_ns;   // once it has ended
    _Atomic bool ended;    // its thread is gone; the collector may free it
    struct ThreadTrace *next;
};

// A record for the calling thread. NULL when memory is out.
struct ThreadTrace *ThreadTrace_new(struct Registry *registry,
                                    struct Contention *contention,
                                    const int64_t cost[HOOK_KINDS]);
void ThreadTrace_free(struct ThreadTrace *trace);
// Memory of its shadow stacks; any thread.
static inline size_t ThreadTrace_stack_bytes(const struct ThreadTrace *trace)
{
    return atomic_load_explicit(&trace->stack_bytes, memory_order_relaxed);
}
// Forgets all open frames and starts counting from zero, at `ticks`.
void ThreadTrace_reset(struct ThreadTrace *trace, uint64_t ticks);
// The record's thread ends; it runs no hook any more. Called by itself.
void ThreadTrace_end(struct ThreadTrace *trace);
// ns of its thread's CPU time since ThreadTrace_restart_cpu; 0 if that
// cannot be known.
uint64_t ThreadTrace_cpu_ns(const struct ThreadTrace *trace);
void ThreadTrace_restart_cpu(struct ThreadTrace *trace);
static inline bool ThreadTrace_has_ended(const struct ThreadTrace *trace)
{
    // Pairs with the release of the thread's exit: its last hook is over.
    return atomic_load_explicit(&trace->ended, memory_order_acquire);
}
static inline uintptr_t ThreadTrace_state(const struct ThreadTrace *trace)
{
    return atomic_load_explicit(&trace->state, memory_order_relaxed);
}
static inline void ThreadTrace_set_state(struct ThreadTrace *trace,
                                         uintptr_t state, uint64_t id,
                                         uint64_t ticks)
{
    atomic_store_explicit(&trace->state, state, memory_order_relaxed);
    trace->state_id = id;
    trace->state_ticks = ticks;
}
// Ticks of a span that ends now in which other programs had the CPU. Its own
// thread, which pays for the question.
int64_t ThreadTrace_ask(struct ThreadTrace *trace, int64_t span);
// Drops the frames' pointers to a code object that is about to go, on parked
// stacks too.
void ThreadTrace_forget(struct ThreadTrace *trace, const struct Code *code);

// The net time; the span since the last event goes to the frame on top.
int64_t ThreadTrace_end_span(struct ThreadTrace *trace, uint64_t ticks);
// The same for an event of a kind (enum HookKind), with that kind's cost.
int64_t ThreadTrace_advance(struct ThreadTrace *trace, uint64_t ticks,
                            unsigned kind);
// The frame an event at `depth` in `code` belongs to, or NULL if its enter was
// not seen. Frames above it left unseen.
struct Frame *ThreadTrace_find(struct ThreadTrace *trace,
                               const struct Code *code, uint32_t depth,
                               uint64_t ticks);
// Doubles the stack. false when memory is out: the frame is not pushed.
bool ThreadTrace_grow(struct ThreadTrace *trace);
// Closes the top frame, which left unseen before `ticks`.
void ThreadTrace_pop_unseen(struct ThreadTrace *trace, uint64_t ticks);
// Before a call begins at `depth`: frames that stand in its way left unseen,
// and so did the one below it, if its function is not the caller (Hit_caller;
// 0: not known).
void ThreadTrace_settle(struct ThreadTrace *trace, uint32_t depth,
                        size_t caller, uint64_t ticks);
// A new caller of `code`, whose call is at `depth`: records the edge. If `code`
// is dark, the caller counts one more dark callee.
void ThreadTrace_note_caller(struct ThreadTrace *trace, struct Code *code,
                             uint32_t depth);
// A site of the code has had its hits. true: it gets more (Code_renew).
bool ThreadTrace_renew(const struct ThreadTrace *trace, struct Code *code,
                       uint64_t ticks);
// The threshold is reached. true: the frame is still to be pushed.
bool ThreadTrace_darken(struct ThreadTrace *trace, struct Code *code,
                        uint64_t ticks);
// Precise mode: the instruction that the frame on top runs is not timed.
void ThreadTrace_lose_step(struct ThreadTrace *trace);
// A frame of which the enter was not seen (started in its middle). NULL: its
// code is dark, or memory is out.
struct Frame *ThreadTrace_attach(struct ThreadTrace *trace, struct Code *code,
                                 uint32_t depth, int64_t now, uint64_t ticks);

static inline unsigned ThreadTrace_number(const struct ThreadTrace *trace,
                                          const struct Frame *frame)
{
    return (unsigned)(frame - trace->bottom - 1);
}

static inline void ThreadTrace_emit(struct ThreadTrace *trace, uint64_t ticks,
                                    enum EventKind kind,
                                    const struct Frame *frame)
{
    if (trace->ring)
        Ring_push(trace->ring, ticks, kind,
                  Event_call(frame->id, ThreadTrace_number(trace, frame)));
}

static inline void ThreadTrace_pop(struct ThreadTrace *trace)
{
    trace->active[trace->top->id % THREAD_TRACE_ACTIVE]--;
    trace->top--;
}

#endif
