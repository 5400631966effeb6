// SPDX-License-Identifier: MIT
// struct ThreadTrace is the record of one traced thread. A record has the
// thread's net clock, its shadow stack and its ring of timeline events.
// thread_trace_call.h handles the beginning and the end of a call.
// thread_trace_block.h handles the end of a block and of an instruction.
// thread_trace.h declares the common functions and handles the rare events.
// Only the holder of the counting lock (counting.h) calls the functions of
// thread_trace.h. Hits are counted some time after their events, so the caller
// passes the time of the event.
//
// The net clock of a thread does not contain the cost of hooks. Each hook's
// calibrated cost is added to `overhead`. The net time is the time stamp
// counter minus `overhead`. The difference between two net times therefore does
// not contain the cost of the hooks that ran between them.
//
// If a frame has ended without an event, its depth stamp shows this. The depth
// stamp of a frame is the interpreter's recursion depth. At an event at depth
// d, every frame is closed that must have ended before the event. A frame can
// end without an event, for example if its return has no hook, or if tracing
// began in the middle of the call. The thread's next event closes a frame that
// has ended without an event.
#pragma once

#include "tracer/code/code.h"
#include "tracer/hook/contention.h"
#include "tracer/hook/frame.h"
#include "tracer/hook/preemption.h"
#include "tracer/hook/stacks.h"
#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Number of elements of `active`, which counts running calls. The element for a
// function is the function's id modulo THREAD_TRACE_ACTIVE.
#define THREAD_TRACE_ACTIVE 1024
// Largest number of nested loops that the timeline shows.
#define THREAD_TRACE_LOOPS 64

// The mean time of a C function's hook is over about this many hooks.
#define C_HOOKS 64
// Seconds that are assumed before there is a mean.
#define C_HOOK_S 25e-9

struct Track;

// Ticks of an interval between two events of a thread. Both numbers are 0 if
// the kernel was not asked.
struct Spent {
    int64_t taken; // Other programs had the CPU.
    // The thread ran, as far as the kernel's clocks tell. -1 if they do not
    // tell.
    int64_t ran;
};

// A loop that has jumped back at least once. `start` and `instructions`
// describe the present iteration of the loop. `number` and `enter` identify the
// frame that runs the loop.
struct Loop {
    int64_t enter; // Frame.enter of the loop's frame.
    int64_t start; // Net clock at the beginning of the iteration.
    uint32_t number;
    uint32_t instructions;
    uint16_t head; // Number of the instruction to which the loop jumps back.
};

struct ThreadTrace {
    // The frame on top. The bottom frame is a sentinel of depth 0.
    struct Frame *top;
    int64_t last; // Net clock at the newest event.
    struct Contention *contention;
    // Ticks of each kind of hook, in an array that all records share.
    const int64_t *cost;
    // The timeline's ring of this thread, or NULL if there is no timeline.
    struct Ring *ring;
    struct Frame *limit;
    struct Frame *bottom;
    // The newest chunk of the interpreter's data stack at the last event that
    // was counted at once. If a later event is in a different chunk, the thread
    // could have switched to another stack (switch.h).
    uintptr_t chunk;
    counter_t overhead; // Ticks that were spent in hooks.
    counter_t unwound;  // Number of frames that ended without an event.
    struct Registry *registry;
    // EVENT_RESUME if the next event continues a suspended call, otherwise
    // EVENT_ENTER.
    uint8_t begins;
    // Hash of the frame (Hit_frame) of the call that the next event ends.
    uint32_t leaves;
    uint32_t newest_c; // Id of the newest C function that has a frame, or 0.
    uint16_t loop_count;
    struct Loop loops[THREAD_TRACE_LOOPS];
    // Number of running calls on all stacks of the thread, indexed by the
    // function's id modulo THREAD_TRACE_ACTIVE.
    uint32_t active[THREAD_TRACE_ACTIVE];

    // The fields from `stolen` on are not used at each hit.

    // The ticks of `overhead` in which other programs had the CPU, which count
    // neither as the program's time nor as Ocular's cost.
    counter_t stolen;
    // The ticks of `overhead`, without `stolen`, that were measured. The other
    // ticks are the cost of hooks that was calibrated with warm caches.
    counter_t paid;
    // How the thread spent the time before the next event, if the kernel was
    // asked.
    struct Spent spent;
    // Mean ticks, times C_HOOKS, from the beginning of a C function's hook to
    // its hit. Only the record's own thread changes `c_hook`.
    counter_t c_hook;
    // Only the record's own thread uses `preemption`, while it holds the GIL.
    struct Preemption preemption;
    // The current shadow stack, to which `top`, `limit` and `bottom` belong.
    // When the stack is parked, these three pointers are stored in the stack.
    struct Stack *stack;
    struct Stack *spare;  // An empty stack for the next greenlet, or NULL.
    struct Stacks parked; // Shadow stacks of the greenlets that do not run now.
    unsigned number;
    // The thread's event loop (event_loops.h), or NULL. Only the record's own
    // thread uses `event_loop`.
    struct EventLoop *event_loop;
    // The interpreter's thread state at the thread's last hook, or 0 before the
    // first hook. The signal handler of the thread reads `state`. The GIL
    // guards `state`, `state_id` and `state_ticks`.
    _Atomic uintptr_t state;
    // Id of the thread state `state`, because another state can get the same
    // address.
    uint64_t state_id;
    uint64_t state_ticks; // Ticks at which `state` was last seen.
    uintptr_t ident;      // pthread_t of the thread.
    pid_t tid;
    char name[64]; // Name of the thread, guarded by ThreadTraces.mutex.
    // Ocular will still ask the program for the thread's name this number of
    // times. Only the record's own thread uses `name_asks`.
    unsigned name_asks;
    // The track (row) of the thread in the timeline, or NULL if there is no
    // track yet. Only the collector's thread uses `track`, `counted_ns` and
    // `counted_busy`.
    struct Track *track;
    // The thread's CPU time in ns at the timeline's last counter for this
    // thread.
    uint64_t counted_ns;
    // True if the thread used CPU time before the timeline's last counter.
    bool counted_busy;
    // The thread's CPU clock in ns when the record began to count CPU time,
    // guarded by ThreadTraces.mutex.
    uint64_t cpu_start_ns;
    uint64_t cpu_end_ns; // CPU clock in ns at the end of the thread.
    // True if the thread has ended, so that the collector's thread may free the
    // record.
    _Atomic bool ended;
    struct ThreadTrace *next;
};

// Returns a record for the calling thread, or NULL if memory is out.
struct ThreadTrace *ThreadTrace_new(struct Registry *registry,
                                    struct Contention *contention,
                                    const int64_t cost[HOOK_KINDS]);
void ThreadTrace_free(struct ThreadTrace *trace);
// Forgets all open frames and sets the counts of the record to 0, at the time
// `ticks`.
void ThreadTrace_reset(struct ThreadTrace *trace, uint64_t ticks);
// Marks the record as one whose thread has ended. The record's own thread calls
// ThreadTrace_end, and runs no hook afterwards.
void ThreadTrace_end(struct ThreadTrace *trace);
// Returns the ns of the thread's CPU time since ThreadTrace_restart_cpu, or 0
// if this CPU time is unknown.
uint64_t ThreadTrace_cpu_ns(const struct ThreadTrace *trace);
void ThreadTrace_restart_cpu(struct ThreadTrace *trace);
static inline bool ThreadTrace_has_ended(const struct ThreadTrace *trace)
{
    // This load pairs with the release in ThreadTrace_end. No hook of the
    // thread runs after the release in ThreadTrace_end.
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
// Asks the kernel how the thread has spent an interval, unless the thread
// usually waits in intervals that end at the site with this hash. The
// interval is `span` ticks long and must end now. The record's own thread calls
// ThreadTrace_ask, because the system calls are about the calling thread.
struct Spent ThreadTrace_ask(struct ThreadTrace *trace, int64_t span,
                             uint32_t site);
// Clears the pointers to a code object that will be freed in all frames, also
// in the frames of parked stacks.
void ThreadTrace_forget(struct ThreadTrace *trace, const struct Code *code);

// Counts the calls that now run on this thread, if hooks saw their beginning
// and they were never suspended (Latency_see).
void ThreadTrace_look(const struct ThreadTrace *trace);

// Adds the time since the last event to the top frame. Returns the net time at
// `ticks`.
int64_t ThreadTrace_end_span(struct ThreadTrace *trace, uint64_t ticks);
// Calls ThreadTrace_end_span, and adds the cost of a hook of the kind `kind`
// (enum HookKind) to the overhead.
int64_t ThreadTrace_advance(struct ThreadTrace *trace, uint64_t ticks,
                            unsigned kind);
// Returns the frame in which an event at `depth` in `code` happened, or NULL if
// no hook saw the beginning of this frame. Closes all inner frames, which must
// have ended without an event.
struct Frame *ThreadTrace_find(struct ThreadTrace *trace,
                               const struct Code *code, uint32_t depth,
                               uint64_t ticks);
// Doubles the size of the shadow stack. Returns false if memory is out or the
// stack has its largest size. If ThreadTrace_grow returns false, the caller
// pushes no frame.
bool ThreadTrace_grow(struct ThreadTrace *trace);
// Closes the top frame, which ended before `ticks` without an event.
void ThreadTrace_pop_unseen(struct ThreadTrace *trace, uint64_t ticks);
// Closes the top frame if it is that of a C function whose end hooks may have
// missed. CPython does not report the end of a C function if the hook of the
// call instruction was removed during the call. The hook is removed when the
// caller's window of counting has ended. The caller of ThreadTrace_end_lost_c
// holds the counting lock.
void ThreadTrace_end_lost_c(struct ThreadTrace *trace, uint64_t ticks);
// Returns true if the top frame may be that of a C function.
static inline bool ThreadTrace_may_be_in_c(const struct ThreadTrace *trace)
{
    const struct Frame *top = trace->top;

    return top > trace->bottom &&
           (top->id == trace->newest_c || top[-1].depth == top->depth);
}
// Prepares the shadow stack for a call that begins at `depth`. Closes the
// frames at this depth or deeper, which must have ended without an event.
// Afterwards the frame on top should be the caller's. If the top frame is not
// that of `caller` (Hit_caller, or 0 if unknown), this frame has ended, too,
// and is closed.
void ThreadTrace_settle(struct ThreadTrace *trace, uint32_t depth,
                        size_t caller, uint64_t ticks);
// Records a call of `code` at `depth` as a call edge from the function of the
// top frame to `code`. If `code` has no hooks (is dark), adds 1 to the caller's
// number of dark callees.
void ThreadTrace_note_caller(struct ThreadTrace *trace, struct Code *code,
                             uint32_t depth);
// ThreadTrace_renew is called if a hook of the code has used up its hits.
// Returns true if the hook gets more hits (Code_renew).
bool ThreadTrace_renew(const struct ThreadTrace *trace, struct Code *code,
                       uint64_t ticks);
// Removes the code's hooks, because its threshold is reached or its slice has
// ended. Returns false if the code had no hooks already.
bool ThreadTrace_darken(struct ThreadTrace *trace, struct Code *code,
                        uint64_t ticks);
// In precise mode, discards the time of the instruction that the top frame
// runs.
void ThreadTrace_lose_step(struct ThreadTrace *trace);
// Pushes the frame of a call whose beginning no hook saw, because tracing
// started in the middle of the call. Returns NULL if the code has no hooks (is
// dark) or memory is out.
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

// Notes the ticks that a C function's hook has taken until its hit. The thread
// may lose the CPU meanwhile, so more than twice the mean counts as twice.
static inline void ThreadTrace_note_c_hook(struct ThreadTrace *trace,
                                           uint64_t ticks)
{
    uint64_t sum = Counter_own(&trace->c_hook), most = 2 * sum / C_HOOKS + 1;

    Counter_add(&trace->c_hook, (ticks < most ? ticks : most) - sum / C_HOOKS);
}

// Pushes a frame, whose fields the caller must set. The stack must have room.
static inline struct Frame *ThreadTrace_push(struct ThreadTrace *trace,
                                             const struct Code *code)
{
    trace->active[code->hot.id % THREAD_TRACE_ACTIVE]++;
    return ++trace->top;
}

static inline void ThreadTrace_pop(struct ThreadTrace *trace)
{
    trace->active[trace->top->id % THREAD_TRACE_ACTIVE]--;
    trace->top--;
}
