// SPDX-License-Identifier: MIT
#include "tracer/hook/thread_trace_call.h"
#include "ipc/base/heap.h"
#include "tracer/code/arming.h"
#include "tracer/code/registry.h"
#include "tracer/hook/thread_trace_block.h"

bool ThreadTrace_enter(struct ThreadTrace *trace, struct Code *code,
                       uint32_t depth, uint16_t start, uint64_t ticks)
{
    uint64_t entries = Counter_add(&code->hot.entries, 1);
    int64_t now = ThreadTrace_advance(trace, ticks, code->hot.enter_hook);
    struct Frame *frame;
    bool disable = false, untimed = code->hot.untimed;

    // Hits of a function without hooks (a dark function) do not set
    // `last_seen`.
    if (!code->hot.dark)
        Counter_set(&code->hot.last_seen, ticks);
    else
        Code_touch(code);
    while (trace->top->depth >= depth)
        ThreadTrace_pop_unseen(trace, ticks);
    if (ThreadTrace_may_be_in_c(trace))
        ThreadTrace_end_lost_c(trace, ticks);
    if (code->hot.last_caller != trace->top->id)
        ThreadTrace_note_caller(trace, code, depth);
    code->hot.untimed = false;
    if (entries >= code->hot.stop_at) {
        if (ThreadTrace_renew(trace, code, ticks)) {
            // It takes time during this call to give the hooks more hits.
            untimed = true;
        } else if (ThreadTrace_darken(trace, code, ticks)) {
            disable = true;
            untimed |= code->spans.ended;
        } else {
            return true;
        }
    }
    if (trace->top == trace->limit && !ThreadTrace_grow(trace))
        return disable;
    frame = ThreadTrace_push(trace, code);
    *frame = (struct Frame){
        .address = code->who.address,
        .code = code,
        .enter = now,
        .begin = trace->begins == EVENT_RESUME ? 0 : ticks,
        .id = code->hot.id,
        .depth = depth,
        .start = start,
        .epoch = untimed ? EPOCH_NONE : code->hot.epoch,
        .line_epoch = untimed ? EPOCH_NONE : code->hot.epoch,
    };
    code->hot.running += frame->begin != 0;
    ThreadTrace_emit(trace, ticks, trace->begins, frame);
    return disable;
}

// --- End of a call ---

static void record_first(struct Code *code, uint64_t self)
{
    struct Histogram *histogram;

    if (Counter_get(&code->hot.self_calls) < 2)
        return;
    histogram = Heap_zeroed(1, sizeof *histogram);
    if (!histogram)
        return;
    if (Counter_get(&code->hot.self_calls) == 2 &&
        !Counter_get(&code->hot.waited_cycles))
        Histogram_add(histogram, Counter_get(&code->hot.self_cycles) - self);
    Histogram_add(histogram, self);
    // The release pairs with the acquire in Code_histogram.
    atomic_store_explicit(&code->hot.histogram, histogram,
                          memory_order_release);
    Code_refresh(code);
}

// Returns true if the cycles of the frame may count as self time of its
// function.
static bool is_clean(const struct Frame *frame, const struct Code *code)
{
    return frame->epoch == code->hot.epoch && !code->hot.dark_callees &&
           !code->cold.between;
}

// Adds the self time of a call whose end a hook has seen. If the self time is
// not known, the mean of the earlier calls takes its place.
static void record_self(const struct Frame *frame, struct Code *code)
{
    uint64_t self = frame->self > 0 ? (uint64_t)frame->self : 0;
    uint64_t calls = Counter_get(&code->hot.self_calls);

    if (frame->waited == FRAME_UNSURE && !calls)
        return;
    if (frame->waited == FRAME_UNSURE)
        self = Counter_get(&code->hot.self_cycles) / calls;
    Counter_add(&code->hot.self_calls, 1);
    Counter_add(&code->hot.self_cycles, self);
    if (frame->waited > 0)
        Counter_add(&code->hot.waited_cycles, (uint64_t)frame->waited);
    if (frame->waited)
        return;
    if (self < Counter_get(&code->hot.min_cycles))
        Counter_set(&code->hot.min_cycles, self);
    if (Code_histogram(code))
        Histogram_add(Code_histogram(code), self);
    else
        record_first(code, self);
}

// Returns true if an outer frame on the same stack belongs to the same
// function. is_open_below is called only if the number of running calls in
// `active` is above 1. This number is above 1 in a recursion, if two ids share
// an element of `active`, or if a call of the function is on a parked stack.
static bool is_open_below(const struct ThreadTrace *trace,
                          const struct Frame *frame)
{
    for (const struct Frame *below = frame - 1; below > trace->bottom; below--)
        if (below->id == frame->id)
            return true;
    return false;
}

// Counts a call that has ended. The total time of the call is added only if the
// function has no outer frame on the same stack.
static void record(const struct ThreadTrace *trace, const struct Frame *frame,
                   struct Code *code, int64_t now)
{
    if (frame->waited == FRAME_PARTIAL)
        return;
    if (is_clean(frame, code))
        record_self(frame, code);
    if (trace->active[frame->id % THREAD_TRACE_ACTIVE] == 1 ||
        !is_open_below(trace, frame)) {
        int64_t total = now - frame->enter;

        Counter_add(&code->hot.total_cycles, total > 0 ? (uint64_t)total : 0);
    }
}

bool ThreadTrace_leave(struct ThreadTrace *trace, struct Code *code,
                       struct Site *site, uint32_t depth, uint64_t ticks)
{
    unsigned kind = site ? site->hook : Code_leave_hook(code);
    int64_t now = ThreadTrace_advance(trace, ticks, kind);
    struct Frame *frame = ThreadTrace_find(trace, code, depth, ticks);
    bool dark = code->hot.dark, stays = false;
    const struct CallPart part = {
        .begin = frame ? frame->begin : 0,
        .end = ticks,
        .ran = frame ? now - frame->enter : 0,
        .frame = trace->leaves,
        .suspends = site && site->kind == SITE_YIELD,
    };

    if (!code->hot.closed)
        stays = Latency_note(&trace->registry->latencies, code, &part);
    if (frame && !code->hot.closed) {
        if (site)
            ThreadTrace_end_block(frame, code, site);
        else if (code->hot.lined)
            ThreadTrace_end_line(frame, Code_lines(code));
        record(trace, frame, code, now);
        ThreadTrace_emit(trace, ticks, site ? EVENT_LEAVE : EVENT_RAISE, frame);
        ThreadTrace_pop(trace);
    } else if (frame) {
        ThreadTrace_pop_unseen(trace, ticks);
    }
    if (site)
        Counter_add(&site->hits, 1);
    if (dark && site && !stays) {
        code->hot.closed = !code->hot.watched;
        atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
        Code_note_change(code);
    }
    return dark && !stays;
}
