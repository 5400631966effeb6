// SPDX-License-Identifier: MIT
// The hot path in precise mode: an instruction is about to run. A hook on the
// record's thread, with the interpreter's lock held.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACE_STEP_H
#define OCULAR_TRACER_HOOK_THREAD_TRACE_STEP_H

#include "tracer/code/arming.h"
#include "tracer/hook/thread_trace.h"

OCULAR_HOT bool ThreadTrace_is_fast_step(const struct ThreadTrace *trace,
                                         const struct Instruction *instruction,
                                         uint32_t depth, enum HookPath path)
{
    return trace->top->depth == depth &&
           Counter_get(&instruction->hits) + 1 < instruction->stop_at &&
           ThreadTrace_is_alone(trace, path);
}

OCULAR_HOT bool Code_is_dark(const struct Code *code, uint16_t number)
{
    return atomic_load_explicit(&code->layout.instructions[number].dark,
                                memory_order_relaxed);
}

// The span since the frame's last event was that instruction's alone: the one
// that runs now can follow it, and if the other one that can had run, it would
// have been seen.
OCULAR_HOT bool Code_follows(const struct Code *code, uint16_t from,
                             uint16_t to)
{
    const struct Instruction *at = &code->layout.instructions[from];

    return at->next == to ? !Code_is_dark(code, at->other)
                          : at->other == to && !Code_is_dark(code, at->next);
}

// An instruction is about to run. true: DISABLE its site.
OCULAR_HOT bool ThreadTrace_step(struct ThreadTrace *trace, struct Code *code,
                                 uint16_t number, uint32_t depth,
                                 uint64_t ticks, enum HookKind kind,
                                 enum HookPath path)
{
    bool fast = path != PATH_SLOW;
    struct Instruction *instruction = &code->layout.instructions[number];
    int64_t now = ThreadTrace_advance(trace, ticks, kind, path);
    struct Frame *frame =
        fast ? trace->top : ThreadTrace_find(trace, code, depth, ticks);
    uint64_t hits = Counter_add(&instruction->hits, 1);

    if (fast || frame || !code->hot.dark)
        Counter_set(&code->hot.last_seen, ticks);
    if (!fast && !frame) {
        frame = ThreadTrace_attach(trace, code, depth, now, ticks);
    } else if (OCULAR_LIKELY(frame->epoch == code->hot.block_epoch &&
                             Code_follows(code, frame->start, number))) {
        struct Instruction *before = &code->layout.instructions[frame->start];

        Counter_add(&before->cycles, (uint64_t)(frame->self - frame->block));
        Counter_add(&before->timed, 1);
    }
    if (fast || frame) {
        frame->start = number;
        frame->block = frame->self;
        frame->instructions++;
        if (ThreadTrace_has_timeline(trace, path) &&
            instruction->flags &
                (INSTRUCTION_HEAD | INSTRUCTION_LOOP | INSTRUCTION_SHOWN))
            ThreadTrace_record_step(trace, frame, instruction, now, ticks);
    }
    if (fast || hits < instruction->stop_at)
        return false;
    Code_darken_instruction(code, instruction);
    ThreadTrace_lose_step(trace); // taking the hook out takes its time
    return true;
}

#endif
