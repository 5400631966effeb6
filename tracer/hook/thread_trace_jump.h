// SPDX-License-Identifier: MIT
// The hot path, at a jump or a branch: ends a block, and an iteration. A hook
// on the record's thread, with the interpreter's lock held.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACE_JUMP_H
#define OCULAR_TRACER_HOOK_THREAD_TRACE_JUMP_H

#include "tracer/code/arming.h"
#include "tracer/hook/thread_trace_block.h"

OCULAR_HOT bool ThreadTrace_plain_jump(const struct ThreadTrace *trace,
                                       const struct Site *site, uint32_t depth,
                                       enum Course course)
{
    return trace->top->depth == depth &&
           Counter_get(&site->hits) + 1 < site->stop_at &&
           ThreadTrace_is_alone(trace, course);
}

// A jump or a branch from `site` to the instruction numbered `to`. true:
// DISABLE the site.
OCULAR_HOT bool ThreadTrace_jump(struct ThreadTrace *trace, struct Code *code,
                                 struct Site *site, uint16_t to, uint32_t depth,
                                 uint64_t ticks, enum HookKind kind,
                                 enum Course course)
{
    bool plain = course != COURSE_WHOLE;
    int64_t now = ThreadTrace_advance(trace, ticks, site->hook, course);
    struct Frame *frame =
        plain ? trace->top : ThreadTrace_find(trace, code, depth, ticks);
    uint64_t hits = Counter_add(&site->hits, 1);

    if (plain || frame || !code->hot.dark)
        Counter_set(&code->hot.last_seen, ticks);
    if (!plain && !frame) {
        // Its caller, if that is on the stack, now knows of a dark callee.
        if (code->hot.last_caller != trace->top->id)
            ThreadTrace_note_caller(trace, code);
        if (!code->hot.dark)
            frame = ThreadTrace_attach(trace, code, depth, now, ticks);
    } else {
        // Only jumps go back: a branch never ends an iteration.
        if (kind == HOOK_JUMP && (course == COURSE_PLAIN_TIMELINE ||
                                  OCULAR_TURN(course, trace->ring != NULL)))
            ThreadTrace_push_loop(trace, frame, site, to, now, ticks);
        ThreadTrace_end_block(frame, code, site);
    }
    if (plain || frame)
        frame->start = to;
    if (plain || hits < site->stop_at)
        return false;
    Code_darken_site(code, site);
    return true;
}

#endif
