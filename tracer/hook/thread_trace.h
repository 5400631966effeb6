// SPDX-License-Identifier: MIT
// The record of one traced thread has its net clock, its shadow stack and its
// ring. thread_trace_call.h handles the beginning and the end of a call.
// thread_trace_block.h handles the end of a block and of an instruction. This
// file declares the common part and the rare events. Only the holder of the
// counting lock (counting.h) calls these functions. These functions may be
// called long after the event, so the caller passes the time of the event.
//
// The net clock works as follows. Every hook adds its own calibrated cost to
// `overhead`. The net time is the CPU's counter minus `overhead`. So the
// difference between two net times does not contain the cost of the hooks that
// ran between the two times.
//
// Depth stamps work as follows. A frame carries the interpreter's recursion
// depth. An event at depth d closes every frame that must have ended before the
// event. A frame may end without an event, for example if its leave site is
// dark, or if tracing began in the middle of the call. The next event then
// closes this frame.
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

// Number of counters of running calls. A counter's index is the function's id
// modulo this number.
#define THREAD_TRACE_ACTIVE 1024
#define THREAD_TRACE_LOOPS 64 // nested loops that the timeline follows

struct Track;

// A loop that has jumped back at least once. The fields describe its present
// iteration. `number` and `enter` identify the frame of the loop.
struct Loop {
    int64_t enter; // `enter` of the frame
    int64_t start; // net clock at the beginning of the iteration
    uint32_t number;
    uint32_t instructions;
    uint16_t head; // number of the instruction to which the loop jumps back
};

struct ThreadTrace {
    struct Frame *top; // the bottom frame is a sentinel of depth 0
    int64_t last;      // net clock of the newest event
    struct Contention *contention;
    const int64_t
        *cost; // ticks of each kind of hook; all records share the array
    struct Ring *ring; // NULL if no timeline is wanted
    struct Frame *limit;
    struct Frame *bottom;
    // The newest chunk of the interpreter's data stack at the last event that
    // was counted at once. If the chunk is different at a later event, the
    // stack may be different, too (switch.h).
    uintptr_t chunk;
    counter_t overhead;         // ticks spent in hooks
    counter_t unwound;          // number of frames that ended without an event
    _Atomic size_t stack_bytes; // bytes of all stacks of the thread
    struct Registry *registry;
    // EVENT_RESUME if the next event continues a call, otherwise EVENT_ENTER
    uint8_t begins;
    uint32_t
        leaves; // the frame of the call that the next event ends (Hit_frame)
    uint16_t loop_count;
    struct Loop loops[THREAD_TRACE_LOOPS];
    // Number of running calls by function, on all stacks of the thread.
    uint32_t active[THREAD_TRACE_ACTIVE];

    // The next fields are not used at each hit.

    // The ticks of `overhead` in which other programs had the CPU. These ticks
    // are neither the program's time nor our cost.
    counter_t stolen;
    // Other programs had the CPU for this number of ticks before the next
    // event.
    int64_t taken;
    // Only the record's own thread uses this field, with the GIL.
    struct Preemption preemption;
    // The stack to which `top`, `limit` and `bottom` belong. When the stack is
    // parked, the stack stores the three pointers.
    struct Stack *stack;
    struct Stack *spare;  // an empty stack for the next greenlet, or NULL
    struct Stacks parked; // stacks of greenlets that do not run now
    unsigned number;
    // The interpreter's thread state at the thread's last hook, or 0. The
    // thread's signal handler reads this field. The GIL guards this field and
    // the next two fields.
    _Atomic uintptr_t state;
    uint64_t state_id; // id of `state`; another state may get the same address
    uint64_t state_ticks; // time at which `state` was seen
    uintptr_t ident;      // pthread_t of the thread
    pid_t tid;
    char name[64]; // guarded by ThreadTraces.mutex
    // how many more times the program is asked for the thread's name; only the
    // record's own thread uses this field
    unsigned name_asks;
    // The track in the timeline, or NULL if there is no track yet. Only the
    // collector uses this field and the next two fields.
    struct Track *track;
    uint64_t counted_ns; // CPU time at the timeline's last counter
    // true if the thread used CPU time before the timeline's last counter
    bool counted_busy;
    // CPU clock at which the record's CPU time starts; guarded by
    // ThreadTraces.mutex.
    uint64_t cpu_start_ns;
    uint64_t cpu_end_ns; // CPU clock at the thread's end
    // true if the thread has ended, so that the collector may free the record
    _Atomic bool ended;
    struct ThreadTrace *next;
};

// Returns a record for the calling thread, or NULL if memory is out.
struct ThreadTrace *ThreadTrace_new(struct Registry *registry,
                                    struct Contention *contention,
                                    const int64_t cost[HOOK_KINDS]);
void ThreadTrace_free(struct ThreadTrace *trace);
// Returns the bytes of the thread's shadow stacks. Any thread may call this
// function.
static inline size_t ThreadTrace_stack_bytes(const struct ThreadTrace *trace)
{
    return atomic_load_explicit(&trace->stack_bytes, memory_order_relaxed);
}
// Forgets all open frames and sets the record's counters to 0, at the time
// `ticks`.
void ThreadTrace_reset(struct ThreadTrace *trace, uint64_t ticks);
// Marks the record as ended. The record's thread calls this function, and runs
// no hook afterwards.
void ThreadTrace_end(struct ThreadTrace *trace);
// Returns the ns of the thread's CPU time since ThreadTrace_restart_cpu, or 0
// if this time is unknown.
uint64_t ThreadTrace_cpu_ns(const struct ThreadTrace *trace);
void ThreadTrace_restart_cpu(struct ThreadTrace *trace);
static inline bool ThreadTrace_has_ended(const struct ThreadTrace *trace)
{
    // This load pairs with the release in ThreadTrace_end. No hook of the
    // thread runs after that release.
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
// Returns for how many ticks of a span other programs had the CPU. The span
// must end now. The record's own thread calls this function, because the
// function makes system calls.
int64_t ThreadTrace_ask(struct ThreadTrace *trace, int64_t span);
// Clears the pointers to a code object that is about to be freed in all frames,
// including the frames of parked stacks.
void ThreadTrace_forget(struct ThreadTrace *trace, const struct Code *code);

// Counts the calls that have begun on this thread, whose beginning was seen and
// whose first part has not ended (Latency_see).
void ThreadTrace_look(const struct ThreadTrace *trace);

// Adds the time since the last event to the frame on top. Returns the net time.
int64_t ThreadTrace_end_span(struct ThreadTrace *trace, uint64_t ticks);
// Calls ThreadTrace_end_span, and adds the cost of the hook `kind` (enum
// HookKind) to the overhead.
int64_t ThreadTrace_advance(struct ThreadTrace *trace, uint64_t ticks,
                            unsigned kind);
// Returns the frame of an event at `depth` in `code`, or NULL if no hook saw
// the frame's beginning. Closes all inner frames, which must have ended without
// an event.
struct Frame *ThreadTrace_find(struct ThreadTrace *trace,
                               const struct Code *code, uint32_t depth,
                               uint64_t ticks);
// Doubles the stack. Returns false if memory is out or the stack has its
// largest size. The caller then pushes no frame.
bool ThreadTrace_grow(struct ThreadTrace *trace);
// Closes the top frame, which ended before `ticks` without an event.
void ThreadTrace_pop_unseen(struct ThreadTrace *trace, uint64_t ticks);
// Prepares for a call that begins at `depth`. Closes the frames at this depth
// or deeper, which must have ended without an event. Then the top frame should
// be the caller's frame. If its function is not `caller` (Hit_caller; 0 if
// unknown), the top frame has also ended, and is closed.
void ThreadTrace_settle(struct ThreadTrace *trace, uint32_t depth,
                        size_t caller, uint64_t ticks);
// Records a call of `code` at `depth` as a call edge from the function of the
// top frame to `code`. If `code` is dark, adds 1 to the caller's number of dark
// callees.
void ThreadTrace_note_caller(struct ThreadTrace *trace, struct Code *code,
                             uint32_t depth);
// This function is called if a site of the code has used up its hits. Returns
// true if the site gets more hits (Code_renew).
bool ThreadTrace_renew(const struct ThreadTrace *trace, struct Code *code,
                       uint64_t ticks);
// Makes the code dark if its threshold is reached. Returns true if the caller
// must still push the frame.
bool ThreadTrace_darken(struct ThreadTrace *trace, struct Code *code,
                        uint64_t ticks);
// In precise mode, discards the time of the instruction that the top frame
// runs.
void ThreadTrace_lose_step(struct ThreadTrace *trace);
// Pushes a frame whose beginning was not seen, because tracing started in the
// middle of the call. Returns NULL if the code is dark or memory is out.
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
