// SPDX-License-Identifier: MIT
// The hot path, at a jump or a branch: ends a block, and an iteration. A hook
// on the record's thread, with the interpreter's lock held.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACE_JUMP_H
#define OCULAR_TRACER_HOOK_THREAD_TRACE_JUMP_H

#include "tracer/code/arming.h"
#include "tracer/hook/thread_trace_block.h"

OCULAR_HOT bool ThreadTrace_is_fast_jump(const struct ThreadTrace *trace,
                                         const struct Site *site,
                                         uint32_t depth, enum HookPath path)
{
    return trace->top->depth == depth &&
           Counter_get(&site->hits) + 1 < site->stop_at &&
           ThreadTrace_is_alone(trace, path);
}

// A jump or a branch from `site` to the instruction numbered `to`. true:
// DISABLE the site.
OCULAR_HOT bool ThreadTrace_jump(struct ThreadTrace *trace, struct Code *code,
                                 struct Site *site, uint16_t to, uint32_t depth,
                                 uint64_t ticks, enum HookKind kind,
                                 enum HookPath path)
{
    bool fast = path != PATH_SLOW;
    int64_t now = ThreadTrace_advance(trace, ticks, site->hook, path);
    struct Frame *frame =
        fast ? trace->top : ThreadTrace_find(trace, code, depth, ticks);
    uint64_t hits = Counter_add(&site->hits, 1);

    if (fast || frame || !code->hot.dark)
        Counter_set(&code->hot.last_seen, ticks);
    if (!fast && !frame) {
        frame = ThreadTrace_attach(trace, code, depth, now, ticks);
    } else {
        // Only jumps go back: a branch never ends an iteration.
        if (kind == HOOK_JUMP && ThreadTrace_has_timeline(trace, path))
            ThreadTrace_push_loop(trace, frame, site, to, now, ticks);
        ThreadTrace_end_block(frame, code, site);
    }
    if (fast || frame)
        frame->start = to;
    if (fast || hits < site->stop_at ||
        (!site->redundant && ThreadTrace_renew(trace, code, ticks)))
        return false;
    Code_darken_site(code, site);
    return true;
}

#endif
