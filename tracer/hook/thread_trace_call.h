// SPDX-License-Identifier: MIT
// The hot path, where a call begins and ends: pushes its frame, and books what
// the call took. A hook on the record's thread, with the interpreter's lock
// held.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACE_CALL_H
#define OCULAR_TRACER_HOOK_THREAD_TRACE_CALL_H

#include "tracer/code/arming.h"
#include "tracer/hook/thread_trace_block.h"

OCULAR_HOT bool ThreadTrace_is_fast_enter(const struct ThreadTrace *trace,
                                          const struct Code *code,
                                          uint32_t depth, enum HookPath path)
{
    return trace->top->depth < depth &&
           code->hot.last_caller == trace->top->id &&
           Counter_get(&code->hot.entries) + 1 < code->hot.stop_at &&
           trace->top != trace->limit && ThreadTrace_is_alone(trace, path);
}

// A call, a resumption or a throw into a generator. true: DISABLE the site.
OCULAR_HOT bool ThreadTrace_enter(struct ThreadTrace *trace, struct Code *code,
                                  uint32_t depth, uint16_t start,
                                  uint64_t ticks, enum HookPath path)
{
    uint64_t entries = Counter_add(&code->hot.entries, 1);
    int64_t now = ThreadTrace_advance(trace, ticks, code->hot.enter_hook, path);
    struct Frame *frame;
    bool disable = false;
    bool untimed = path == PATH_SLOW && code->hot.untimed;

    // What a dark function's other sites still say makes nothing newer.
    if (path != PATH_SLOW || !code->hot.dark)
        Counter_set(&code->hot.last_seen, ticks);
    else
        Code_touch(code);
    while (OCULAR_SLOW(path, trace->top->depth >= depth))
        ThreadTrace_pop_unseen(trace, ticks);
    if (OCULAR_SLOW(path, code->hot.last_caller != trace->top->id))
        ThreadTrace_note_caller(trace, code, depth);
    if (OCULAR_SLOW(path, untimed))
        code->hot.untimed = false;
    if (OCULAR_SLOW(path, entries >= code->hot.stop_at)) {
        if (ThreadTrace_renew(trace, code, ticks)) {
            untimed = true; // something is done in its sight
        } else if (ThreadTrace_darken(trace, code, ticks)) {
            disable = true;
            untimed |= code->spans.ended;
        } else {
            return true;
        }
    }
    if (OCULAR_SLOW(path, trace->top == trace->limit) &&
        !ThreadTrace_grow(trace))
        return disable;
    trace->active[code->hot.id % THREAD_TRACE_ACTIVE]++;
    frame = ++trace->top;
    frame->address = code->who.address;
    frame->code = code;
    frame->enter = now;
    frame->self = 0;
    frame->block = 0;
    frame->waited = 0;
    frame->id = code->hot.id;
    frame->depth = depth;
    frame->instructions = 0;
    frame->start = start;
    frame->epoch = OCULAR_SLOW(path, untimed) ? EPOCH_NONE : code->hot.epoch;
    ThreadTrace_emit(trace, ticks, EVENT_ENTER, frame, path);
    return disable;
}

// --- Leave ---

OCULAR_HOT bool ThreadTrace_is_fast_leave(const struct ThreadTrace *trace,
                                          const struct Code *code,
                                          uint32_t depth, enum HookPath path)
{
    const struct Frame *frame = trace->top;

    return frame->depth == depth && frame->epoch == code->hot.fast_epoch &&
           !frame->waited && ThreadTrace_is_alone(trace, path);
}

// Books the self time of a call that ended in the sight of a hook.
OCULAR_HOT void ThreadTrace_record_self(const struct Frame *frame,
                                        struct Code *code, enum HookPath path)
{
    uint64_t self = frame->self > 0 ? (uint64_t)frame->self : 0;

    Counter_add(&code->hot.self_calls, 1);
    Counter_add(&code->hot.self_cycles, self);
    if (OCULAR_SLOW(path, frame->waited)) {
        Counter_add(&code->hot.waited_cycles, (uint64_t)frame->waited);
        return;
    }
    if (OCULAR_UNLIKELY(self < Counter_get(&code->hot.min_cycles)))
        Counter_set(&code->hot.min_cycles, self);
    if (OCULAR_SLOW(path, !Code_histogram(code)))
        ThreadTrace_record_first(code, self);
    else
        Histogram_add(Code_histogram(code), self);
}

// Books a call; its total only if no other call of the function is open below.
OCULAR_HOT void ThreadTrace_record(const struct ThreadTrace *trace,
                                   const struct Frame *frame, struct Code *code,
                                   int64_t now, enum HookPath path)
{
    if (OCULAR_SLOW(path, frame->waited == FRAME_PARTIAL))
        return;
    if (path != PATH_SLOW || Frame_is_clean(frame, code))
        ThreadTrace_record_self(frame, code, path);
    if (OCULAR_LIKELY(trace->active[frame->id % THREAD_TRACE_ACTIVE] == 1) ||
        !ThreadTrace_is_open_below(trace, frame)) {
        int64_t total = now - frame->enter;

        Counter_add(&code->hot.total_cycles, total > 0 ? (uint64_t)total : 0);
    }
}

// A return, a yield (site != NULL) or an exception that leaves the frame
// (site == NULL, which has no site to disable). true: DISABLE the site.
OCULAR_HOT bool ThreadTrace_leave(struct ThreadTrace *trace, struct Code *code,
                                  struct Site *site, uint32_t depth,
                                  uint64_t ticks, enum HookPath path)
{
    bool fast = path != PATH_SLOW;
    unsigned kind = fast ? site->hook : ThreadTrace_leave_kind(code, site);
    int64_t now = ThreadTrace_advance(trace, ticks, kind, path);
    struct Frame *frame =
        fast ? trace->top : ThreadTrace_find(trace, code, depth, ticks);
    bool dark = !fast && code->hot.dark;

    if (fast || (frame && !code->hot.closed)) {
        if (fast || site)
            ThreadTrace_end_block(frame, code, site);
        ThreadTrace_record(trace, frame, code, now, path);
        ThreadTrace_emit(trace, ticks, site ? EVENT_LEAVE : EVENT_RAISE, frame,
                         path);
        ThreadTrace_pop(trace);
    } else if (frame) {
        ThreadTrace_pop_unseen(trace, ticks);
    }
    if (fast || site)
        Counter_add(&site->hits, 1);
    if (dark && site) {
        code->hot.closed = true;
        atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
        Code_note_change(code);
    }
    return dark;
}

#endif
