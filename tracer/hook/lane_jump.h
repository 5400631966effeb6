// SPDX-License-Identifier: MIT
// The hot path, at a jump or a branch: ends a block, and an iteration. A hook
// on the lane's thread, with the interpreter's lock held.
#ifndef OCULAR_TRACER_HOOK_LANE_JUMP_H
#define OCULAR_TRACER_HOOK_LANE_JUMP_H

#include "tracer/code/arming.h"
#include "tracer/hook/lane_block.h"

OCULAR_HOT bool Lane_plain_jump(const struct Lane *lane,
                                const struct Site *site, uint32_t depth,
                                enum Course course)
{
    return lane->top->depth == depth &&
           Cell_get(&site->hits) + 1 < site->stop_at &&
           Lane_is_alone(lane, course);
}

// A jump or a branch from `site` to the instruction numbered `to`. true:
// DISABLE the site.
OCULAR_HOT bool Lane_jump(struct Lane *lane, struct Code *code,
                          struct Site *site, uint16_t to, uint32_t depth,
                          uint64_t ticks, enum HookKind kind,
                          enum Course course)
{
    bool plain = course != COURSE_WHOLE;
    int64_t now = Lane_advance(lane, ticks, site->hook, course);
    struct Frame *frame =
        plain ? lane->top : Lane_find(lane, code, depth, ticks);
    uint64_t hits = Cell_add(&site->hits, 1);

    if (plain || frame || !code->hot.dark)
        Cell_set(&code->hot.last_seen, ticks);
    if (!plain && !frame) {
        // Its caller, if that is on the stack, now knows of a dark callee.
        if (code->hot.last_caller != lane->top->id)
            Lane_note_caller(lane, code);
        if (!code->hot.dark)
            frame = Lane_attach(lane, code, depth, now, ticks);
    } else {
        // Only jumps go back: a branch never ends an iteration.
        if (kind == HOOK_JUMP && (course == COURSE_PLAIN_TIMELINE ||
                                  OCULAR_TURN(course, lane->ring != NULL)))
            Lane_push_loop(lane, frame, site, to, now, ticks);
        Lane_end_block(frame, code, site);
    }
    if (plain || frame)
        frame->start = to;
    if (plain || hits < site->stop_at)
        return false;
    Code_darken_site(code, site);
    return true;
}

#endif
