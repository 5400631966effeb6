// SPDX-License-Identifier: MIT
// The hot path, at the end of a basic block: its cycles and instructions are
// booked to the site that it ended at. A hook on the record's thread, with the
// interpreter's lock held.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACE_BLOCK_H
#define OCULAR_TRACER_HOOK_THREAD_TRACE_BLOCK_H

#include "tracer/hook/thread_trace.h"

// May the frame's cycles count as its function's own?
OCULAR_HOT bool Frame_is_clean(const struct Frame *frame,
                               const struct Code *code)
{
    return frame->epoch == code->hot.epoch && !code->hot.dark_callees &&
           !code->cold.between;
}

// A block ended at `site`.
OCULAR_HOT void ThreadTrace_end_block(struct Frame *frame, struct Code *code,
                                      struct Site *site)
{
    uint16_t length = Frame_block_length(frame, code, site);
    int64_t self = frame->self;

    if (OCULAR_LIKELY(frame->epoch == code->hot.block_epoch)) {
        Counter_add(&site->cycles, (uint64_t)(self - frame->block));
        Counter_add(&site->instructions, length);
    }
    frame->instructions += length;
    frame->block = self;
}

#endif
