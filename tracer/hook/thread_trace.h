// SPDX-License-Identifier: MIT
// The record of one traced thread: its net clock, its shadow stack and its
// ring. What a hook does at each event is inlined from thread_trace_call.h,
// thread_trace_jump.h and thread_trace_step.h; here is what those have in
// common, and what is rare. Only the thread itself runs it, with the
// interpreter's lock held; the collector reads the counters and drains the
// ring.
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
#include "tracer/hook/path.h"
#include "tracer/hook/preemption.h"
#include "tracer/hook/stacks.h"
#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define THREAD_TRACE_ACTIVE 1024 // counters of open frames: id modulo this
#define THREAD_TRACE_SEEN 64     // code objects remembered, by address
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

// A code object seen lately. Cleared when it goes (ThreadTrace_forget), so that
// an address that matches is the code object itself.
struct Seen {
    uintptr_t address;
    struct Code *code;
};

struct ThreadTrace {
    struct Frame *top; // the bottom one is a sentinel of depth 0
    int64_t last;      // net clock of the newest event
    struct Contention *contention;
    int64_t cost[HOOK_KINDS]; // ticks
    struct Ring *ring;        // NULL unless a timeline is wanted
    struct Frame *limit;
    struct Frame *bottom;
    // The newest chunk of the interpreter's data stack, as the last event found
    // it. Another one is asked about: it may be another stack's (switch.h).
    uintptr_t chunk;
    counter_t overhead;         // ticks spent in hooks
    counter_t unwound;          // frames that left unseen
    _Atomic size_t stack_bytes; // of all its stacks
    struct Registry *registry;
    uint16_t loop_count;
    struct Seen seen[THREAD_TRACE_SEEN];
    struct Loop loops[THREAD_TRACE_LOOPS];
    uint32_t active[THREAD_TRACE_ACTIVE]; // on all its stacks

    // Not the hot path's.
    counter_t stolen; // ticks of `overhead` in which other programs had the
                      // CPU: neither the program's time nor our cost
    struct Preemption preemption;
    struct Stack *stack;  // the one that top, limit and bottom are of; they are
                          // written back when it is parked
    struct Stack *spare;  // an empty one for the next greenlet, or NULL
    struct Stacks parked; // those of greenlets that do not run now
    struct ThreadTrace *stands_for; // the thread's own, while hooks are timed
                                    // with this one
                                    // (python/hooks/calibrate.h); or NULL
    uint64_t typical_ticks;         // that timing them takes
    unsigned number;
    // The interpreter's thread state that it was seen with last, 0: none. Its
    // signal handler reads it; the rest is under the interpreter's lock.
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
struct ThreadTrace *ThreadTrace_new(unsigned number, struct Registry *registry,
                                    struct Contention *contention);
void ThreadTrace_free(struct ThreadTrace *trace);
// Memory of its shadow stacks; any thread.
static inline size_t ThreadTrace_stack_bytes(const struct ThreadTrace *trace)
{
    return atomic_load_explicit(&trace->stack_bytes, memory_order_relaxed);
}
// Forgets all open frames and starts counting from zero, at `ticks`.
void ThreadTrace_reset(struct ThreadTrace *trace,
                       const int64_t cost[HOOK_KINDS], uint64_t ticks);
// The record's thread ends; it runs no hook any more. Called by itself.
void ThreadTrace_end(struct ThreadTrace *trace);
// ns of its thread's CPU time since ThreadTrace_restart_cpu; 0 where that
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
// Drops the frames' pointers to a code object that is about to go, on parked
// stacks too.
void ThreadTrace_forget(struct ThreadTrace *trace, const struct Code *code);

// --- Out of the hot path's line ---

// Doubles the stack. false when memory is out: the frame is not pushed.
bool ThreadTrace_grow(struct ThreadTrace *trace);
// Closes the top frame, which left unseen before `ticks`.
void ThreadTrace_pop_unseen(struct ThreadTrace *trace, uint64_t ticks);
// Checks a span in which others may have run. What another thread of the
// process ran goes to `waited`; what another program ran goes to nobody.
// Returns the part that is self time.
int64_t ThreadTrace_check_span(struct ThreadTrace *trace, int64_t span);
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
void ThreadTrace_record_first(struct Code *code, uint64_t self);
// enum HookKind of what leaves at `site`; NULL: an exception.
unsigned ThreadTrace_leave_kind(const struct Code *code,
                                const struct Site *site);
void ThreadTrace_push_loop(struct ThreadTrace *trace, struct Frame *frame,
                           const struct Site *site, uint16_t head, int64_t now,
                           uint64_t ticks);
// Precise mode: the instruction that the frame on top runs is not timed.
void ThreadTrace_lose_step(struct ThreadTrace *trace);
// Precise mode, with a timeline: an instruction where a loop begins or ends, or
// that is shown.
void ThreadTrace_record_step(struct ThreadTrace *trace,
                             const struct Frame *frame,
                             const struct Instruction *instruction, int64_t now,
                             uint64_t ticks);
// Another frame of the function is open below this one, on the same stack.
// Asked only where the counters of open frames leave it open: recursion, two
// ids that share one, a function that is open on a parked stack.
bool ThreadTrace_is_open_below(const struct ThreadTrace *trace,
                               const struct Frame *frame);
// A frame of which the enter was not seen (started in its middle). NULL: its
// code is dark, or memory is out.
struct Frame *ThreadTrace_attach(struct ThreadTrace *trace, struct Code *code,
                                 uint32_t depth, int64_t now, uint64_t ticks);

// --- What each event on the hot path does ---

OCULAR_HOT struct Seen *ThreadTrace_seen(struct ThreadTrace *trace,
                                         uintptr_t address)
{
    return &trace->seen[(address >> 5) % THREAD_TRACE_SEEN];
}

// No other thread's hook has run since this one's last.
OCULAR_HOT bool ThreadTrace_is_alone(const struct ThreadTrace *trace,
                                     enum HookPath path)
{
    return trace->contention->last_trace == trace &&
           (path != PATH_FAST_TIMELINE || trace->ring);
}

// The span since the last event is too short for others to have had the
// interpreter, or the CPU, for a time that matters.
OCULAR_HOT bool ThreadTrace_is_brief(const struct ThreadTrace *trace,
                                     uint64_t ticks)
{
    return (int64_t)(ticks - Counter_own(&trace->overhead)) - trace->last <=
           trace->contention->brief_span;
}

// Starts an event of a kind (enum HookKind): the net time; the span since the
// last event goes to the frame on top.
OCULAR_HOT int64_t ThreadTrace_advance(struct ThreadTrace *trace,
                                       uint64_t ticks, unsigned kind,
                                       enum HookPath path)
{
    uint64_t overhead = Counter_own(&trace->overhead);
    int64_t now = (int64_t)(ticks - overhead);
    int64_t span = now - trace->last;

    Counter_set(&trace->overhead, overhead + (uint64_t)trace->cost[kind]);
    trace->last = now;
    if (OCULAR_SLOW(path, trace->contention->last_trace != trace ||
                              span > trace->contention->brief_span))
        span = ThreadTrace_check_span(trace, span);
    trace->top->self += span;
    return now;
}

static inline unsigned ThreadTrace_number(const struct ThreadTrace *trace,
                                          const struct Frame *frame)
{
    return (unsigned)(frame - trace->bottom - 1);
}

OCULAR_HOT bool ThreadTrace_has_timeline(const struct ThreadTrace *trace,
                                         enum HookPath path)
{
    return path == PATH_FAST_TIMELINE || OCULAR_SLOW(path, trace->ring != NULL);
}

OCULAR_HOT void ThreadTrace_emit(struct ThreadTrace *trace, uint64_t ticks,
                                 enum EventKind kind, const struct Frame *frame,
                                 enum HookPath path)
{
    if (ThreadTrace_has_timeline(trace, path))
        Ring_push(trace->ring, ticks, kind,
                  Event_call(frame->id, ThreadTrace_number(trace, frame)));
}

OCULAR_HOT void ThreadTrace_pop(struct ThreadTrace *trace)
{
    trace->active[trace->top->id % THREAD_TRACE_ACTIVE]--;
    trace->top--;
}

// Instructions of the block that ends at `site`.
OCULAR_HOT uint16_t Frame_block_length(const struct Frame *frame,
                                       const struct Code *code,
                                       const struct Site *site)
{
    uint16_t length =
        (uint16_t)(code->layout.units[site->unit].number - frame->start + 1);

    // A loop that ended through its FOR_ITER ended unseen: its body, between
    // start and site in address order, was not run.
    return length < site->reach ? length : site->reach;
}

// The frame an event at `depth` in `code` belongs to, or NULL if its enter was
// not seen. Frames above it left unseen.
static inline struct Frame *ThreadTrace_find(struct ThreadTrace *trace,
                                             struct Code *code, uint32_t depth,
                                             uint64_t ticks)
{
    while (OCULAR_UNLIKELY(trace->top->depth > depth))
        ThreadTrace_pop_unseen(trace, ticks);
    if (OCULAR_LIKELY(trace->top->code == code && trace->top->depth == depth))
        return trace->top;
    if (trace->top->depth == depth)
        ThreadTrace_pop_unseen(trace, ticks);
    return NULL;
}

#endif
