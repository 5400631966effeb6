// SPDX-License-Identifier: MIT
// Handles the memory, the clock and the rare events of a thread's record. A
// rare event happens only once for a function or a thread, or in an unusual
// order. The caller of the functions of thread_trace.h holds the counting lock.
#include "tracer/hook/thread_trace.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/code/arming.h"
#include "tracer/code/c_calls.h"
#include "tracer/code/means.h"
#include "tracer/code/registry.h"
#include "tracer/code/spans.h"
#include "tracer/hook/hit.h"

#include <string.h>
#include <time.h>

// A stack of FIRST_FRAMES frames is too small to get a memory mapping of its
// own (ipc/base/heap.h).
#define FIRST_FRAMES 64
// A stack of MAX_FRAMES frames takes 4 MiB. Deeper frames are not recorded.
#define MAX_FRAMES (1u << 16)

struct ThreadTrace *ThreadTrace_new(struct Registry *registry,
                                    struct Contention *contention,
                                    const int64_t cost[HOOK_KINDS])
{
    struct ThreadTrace *trace = Heap_zeroed(1, sizeof *trace);

    if (!trace)
        return NULL;
    trace->stack = Stack_new(FIRST_FRAMES);
    if (!trace->stack) {
        Heap_free(trace);
        return NULL;
    }
    trace->top = trace->bottom = trace->stack->bottom;
    trace->limit = trace->stack->limit;
    trace->registry = registry;
    trace->contention = contention;
    trace->cost = cost;
    Counter_set(&trace->c_hook,
                (uint64_t)(C_HOOKS * C_HOOK_S * contention->hz));
    return trace;
}

void ThreadTrace_free(struct ThreadTrace *trace)
{
    if (!trace)
        return;
    Ring_free(trace->ring);
    // `bottom` has changed if the stack has grown.
    trace->stack->bottom = trace->bottom;
    Stack_free(trace->stack);
    Stack_free(trace->spare);
    Stacks_clear(&trace->parked);
    Heap_free(trace);
}

void ThreadTrace_reset(struct ThreadTrace *trace, uint64_t ticks)
{
    Stacks_clear(&trace->parked);
    Stack_free(trace->spare);
    trace->spare = NULL;
    trace->stack->root = trace->chunk = 0;
    trace->top = trace->bottom;
    memset(trace->bottom, 0, sizeof *trace->bottom);
    memset(trace->active, 0, sizeof trace->active);
    trace->loop_count = trace->newest_c = 0;
    trace->event_loop = NULL;
    trace->last = (int64_t)ticks;
    trace->spent = (struct Spent){0};
    Preemption_init(&trace->preemption);
    Counter_set(&trace->overhead, 0);
    Counter_set(&trace->stolen, 0);
    Counter_set(&trace->paid, 0);
    Counter_set(&trace->unwound, 0);
}

void ThreadTrace_end(struct ThreadTrace *trace)
{
    trace->cpu_end_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    // The release pairs with the acquire in ThreadTrace_has_ended. After this
    // store no hook of the thread runs.
    atomic_store_explicit(&trace->ended, true, memory_order_release);
}

// Returns the CPU time of the thread in ns. The thread is found by its kernel
// id, because a pthread_t is invalid after the end of its thread.
static uint64_t thread_ns(const struct ThreadTrace *trace)
{
    if (atomic_load_explicit(&trace->ended, memory_order_acquire))
        return trace->cpu_end_ns;
    return Now_ns(Now_clock_of(trace->tid));
}

uint64_t ThreadTrace_cpu_ns(const struct ThreadTrace *trace)
{
    uint64_t now = thread_ns(trace);

    return now > trace->cpu_start_ns ? now - trace->cpu_start_ns : 0;
}

void ThreadTrace_restart_cpu(struct ThreadTrace *trace)
{
    trace->counted_ns = 0;
    trace->cpu_start_ns = thread_ns(trace);
}

// Clears the pointers to a code object in the frames of a stack.
static void forget(struct Frame *bottom, struct Frame *top,
                   const struct Code *code)
{
    struct Frame *frame;

    for (frame = bottom + 1; frame <= top; frame++)
        if (frame->code == code) {
            if (frame->begin)
                Latency_lose(frame->code, frame->begin);
            frame->code = NULL;
            frame->address = 0;
        }
}

void ThreadTrace_forget(struct ThreadTrace *trace, const struct Code *code)
{
    const struct Stack *stack;

    if (!trace->active[code->hot.id % THREAD_TRACE_ACTIVE])
        return;
    forget(trace->bottom, trace->top, code);
    for (stack = trace->parked.oldest; stack; stack = stack->newer)
        forget(stack->bottom, stack->top, code);
}

static void look(const struct ThreadTrace *trace, const struct Frame *bottom,
                 const struct Frame *top)
{
    const struct Frame *frame;

    for (frame = bottom + 1; frame <= top; frame++)
        if (frame->begin && frame->code &&
            Latency_sees_ends(&trace->registry->latencies, frame->code))
            Latency_see(&trace->registry->latencies, frame->code, frame->begin);
}

void ThreadTrace_look(const struct ThreadTrace *trace)
{
    const struct Stack *stack;

    look(trace, trace->bottom, trace->top);
    for (stack = trace->parked.oldest; stack; stack = stack->newer)
        look(trace, stack->bottom, stack->top);
}

bool ThreadTrace_grow(struct ThreadTrace *trace)
{
    size_t count = (size_t)(trace->limit - trace->bottom) + 1;
    struct Frame *frames, *old = trace->bottom;

    if (2 * count > MAX_FRAMES)
        return false;
    frames = Stack_frames(2 * count);
    if (!frames)
        return false;
    memcpy(frames, old, count * sizeof *frames);
    trace->top = frames + (trace->top - old);
    trace->limit = frames + 2 * count - 1;
    trace->bottom = frames;
    // The old frames are freed last, because a forked child frees the frames at
    // `bottom`.
    Heap_free(old);
    return true;
}

void ThreadTrace_pop_unseen(struct ThreadTrace *trace, uint64_t ticks)
{
    struct Code *code = trace->top->code;

    Counter_add(&trace->unwound, 1);
    if (code)
        Latency_lose(code, trace->top->begin);
    if (code && code->hot.lined)
        LineHits_lose(Code_lines(code), trace->top->self - trace->top->line);
    ThreadTrace_emit(trace, ticks, EVENT_UNWOUND, trace->top);
    ThreadTrace_pop(trace);
    // A part of the time since the last event was the caller's, but was added
    // to this frame. The self time of the caller is therefore no longer known.
    trace->top->epoch = trace->top->line_epoch = EPOCH_NONE;
}

void ThreadTrace_end_lost_c(struct ThreadTrace *trace, uint64_t ticks)
{
    const struct Frame *top = trace->top;
    const struct Code *caller;

    if (!top->code || !Code_is_counted_by_callers(top->code))
        return;
    caller = Registry_find_living(trace->registry, top->address);
    if (!caller || !CCalls_is_open(caller))
        ThreadTrace_pop_unseen(trace, ticks);
}

void ThreadTrace_settle(struct ThreadTrace *trace, uint32_t depth,
                        size_t caller, uint64_t ticks)
{
    while (trace->top->depth >= depth)
        ThreadTrace_pop_unseen(trace, ticks);
    if (trace->top > trace->bottom && trace->top->depth + 1 == depth &&
        caller && Hit_caller(trace->top->address) != caller)
        ThreadTrace_pop_unseen(trace, ticks);
}

void ThreadTrace_lose_step(struct ThreadTrace *trace)
{
    const struct Code *code = trace->top->code;

    if (code && code->layout.instructions)
        trace->top->start = (uint16_t)code->layout.instruction_count;
}

struct Spent ThreadTrace_ask(struct ThreadTrace *trace, int64_t span,
                             uint32_t site)
{
    struct Preemption *preemption = &trace->preemption;
    double cycles_a_ns = trace->contention->hz * 1e-9;
    int64_t ns = (int64_t)((double)span / cycles_a_ns);
    struct Spent spent = {0};
    // Without an earlier reading of the clocks, this call only reads them.
    bool asks = !preemption->then.cpu_ns;

    Preemption_note_armed(preemption, trace->contention->armed);
    asks = asks || ns >= PREEMPTION_STOPPED_NS ||
           (ns > PREEMPTION_BRIEF_NS && !Preemption_skip(preemption, site));
    if (!asks) {
        Preemption_expect_wait(preemption, ns);
        return spent;
    }
    ns = Preemption_measure(preemption, ns, site);
    spent.taken = (int64_t)((double)ns * cycles_a_ns);
    spent.ran = preemption->unsure
                    ? -1
                    : (int64_t)((double)preemption->ran_ns * cycles_a_ns);
    return spent;
}

// Writes a wait of the thread into the ring of timeline events. The wait began
// after the last event, and comes in the ring before the event that ended the
// wait. Waits of a thread that has no open call are not shown.
static void emit_wait(struct ThreadTrace *trace, int64_t begin, int64_t waited)
{
    if (trace->ring && trace->top != trace->bottom &&
        waited > trace->contention->brief_span)
        Ring_push(trace->ring, (uint64_t)begin, EVENT_WAIT, (uint64_t)waited);
}

// Checks the interval between two events of the thread for other threads or
// programs that have run. If another thread of the process ran, the time in
// which this thread did not run is added to `waited`. Time in which another
// program ran is not added to any count. Returns the ticks of the interval that
// are self time.
static int64_t check_span(struct ThreadTrace *trace, int64_t span)
{
    struct Contention *contention = trace->contention;
    int64_t begin = trace->last + (int64_t)Counter_own(&trace->overhead) - span;
    bool alone =
        contention->last_trace == trace && span <= contention->long_span;
    struct Spent spent = trace->spent;
    int64_t waited = 0;

    contention->last_trace = trace;
    trace->spent = (struct Spent){0};
    if (spent.taken > span)
        spent.taken = span;
    if (alone && !spent.taken)
        return span;
    ThreadTrace_lose_step(trace);
    span -= spent.taken;
    if (!alone && spent.ran >= 0)
        waited = span - spent.ran;
    // The kernel's clocks do not stop at the same times as the counter.
    if (spent.ran > 0 && waited <= contention->brief_span)
        waited = 0;
    if (trace->top->waited != FRAME_PARTIAL && spent.ran < 0)
        trace->top->waited = FRAME_UNSURE;
    else if (span > 0 && trace->top->waited >= 0)
        trace->top->waited += waited;
    emit_wait(trace, begin, waited);
    return span - waited;
}

int64_t ThreadTrace_end_span(struct ThreadTrace *trace, uint64_t ticks)
{
    int64_t now = (int64_t)(ticks - Counter_own(&trace->overhead));
    int64_t span = now - trace->last;

    trace->last = now;
    if (trace->contention->last_trace != trace ||
        span > trace->contention->brief_span || trace->spent.taken)
        span = check_span(trace, span);
    trace->top->self += span;
    return now;
}

int64_t ThreadTrace_advance(struct ThreadTrace *trace, uint64_t ticks,
                            unsigned kind)
{
    int64_t now = ThreadTrace_end_span(trace, ticks);

    Counter_add(&trace->overhead, (uint64_t)trace->cost[kind]);
    return now;
}

struct Frame *ThreadTrace_find(struct ThreadTrace *trace,
                               const struct Code *code, uint32_t depth,
                               uint64_t ticks)
{
    // If no hook saw the end of a garbage collection, its frame is still there
    // and has the same depth as its caller.
    while (trace->top->depth > depth ||
           (trace->top->depth == depth && trace->top->code != code))
        ThreadTrace_pop_unseen(trace, ticks);
    return trace->top->depth == depth ? trace->top : NULL;
}

void ThreadTrace_note_caller(struct ThreadTrace *trace, struct Code *code,
                             uint32_t depth)
{
    const struct Frame *frame = trace->top;

    code->hot.last_caller = frame->id;
    // If a function without hooks was called between the two frames, the
    // function of the top frame is not the caller.
    if (!frame->code || frame->depth + 1 != depth)
        return;
    Registry_link(trace->registry, frame->code, code);
}

bool ThreadTrace_renew(const struct ThreadTrace *trace, struct Code *code,
                       uint64_t ticks)
{
    const struct Second second = {
        .hits =
            atomic_load_explicit(&trace->registry->hits, memory_order_relaxed),
        .ticks = (uint64_t)trace->contention->hz,
    };

    return Code_renew(code, &second, ticks);
}

bool ThreadTrace_darken(struct ThreadTrace *trace, struct Code *code,
                        uint64_t ticks)
{
    uint32_t i;

    if (code->hot.dark)
        return false;
    code->hot.closed = false;
    // The window in which C functions are counted does not include this call.
    CCalls_close(code, Counter_get(&code->hot.entries) - 1, ticks);
    if (code->spans.ended)
        // Hooks have stayed installed from the end of the slice until this hit.
        Spans_begin_dark(code, ticks);
    else if (Spans_drop(code, ticks, code->cold.dark_from_ns > 0))
        code->cold.dark_ns += code->cold.dark_from_ns;
    // A reader that sees `dark` also sees when the time without hooks (dark
    // time) began.
    code->hot.dark = true;
    Code_refresh(code);
    if (code->spans.ended)
        Latency_watch(&trace->registry->latencies, code, ticks);
    else
        Latency_cut(code);
    code->hot.calls_exact = code->hot.exact = false;
    atomic_fetch_add_explicit(&code->cold.dark_times, 1, memory_order_relaxed);
    Code_begin_dark(code);
    atomic_store_explicit(&code->cold.dark_since, ticks, memory_order_relaxed);
    Code_touch(code);
    code->cold.reported = !code->spans.ended;
    for (i = 0; code->cold.reported && i < code->links.caller_count; i++) {
        struct Code *caller =
            Registry_by_id(trace->registry, code->links.callers[i]);

        if (caller)
            Code_gain_dark_callee(caller);
    }
    if (trace->ring)
        Ring_push(trace->ring, ticks, EVENT_DARK,
                  Event_call(code->hot.id,
                             ThreadTrace_number(trace, trace->top) + 1));
    return true;
}

struct Frame *ThreadTrace_attach(struct ThreadTrace *trace, struct Code *code,
                                 uint32_t depth, int64_t now, uint64_t ticks)
{
    struct Frame *frame;

    // If the caller is on the shadow stack, adds 1 to the caller's number of
    // dark callees.
    if (code->hot.last_caller != trace->top->id)
        ThreadTrace_note_caller(trace, code, depth);
    if (code->hot.dark)
        return NULL;
    if (trace->top == trace->limit && !ThreadTrace_grow(trace))
        return NULL;
    frame = ThreadTrace_push(trace, code);
    memset(frame, 0, sizeof *frame);
    frame->address = code->who.address;
    frame->code = code;
    frame->enter = now;
    frame->id = code->hot.id;
    frame->depth = depth;
    frame->epoch = code->hot.epoch;
    frame->waited = FRAME_PARTIAL;
    ThreadTrace_emit(trace, ticks, EVENT_RESUME, frame);
    return frame;
}
