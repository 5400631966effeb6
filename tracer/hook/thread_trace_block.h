// SPDX-License-Identifier: MIT
// A basic block, an iteration of a loop, or in precise mode an instruction
// ends: its cycles are booked to where it ended. With the counting lock;
// `ticks` is when the hook read the counter.
#ifndef OCULAR_TRACER_HOOK_THREAD_TRACE_BLOCK_H
#define OCULAR_TRACER_HOOK_THREAD_TRACE_BLOCK_H

#include "tracer/hook/thread_trace.h"

// A block ended at `site`.
void ThreadTrace_end_block(struct Frame *frame, const struct Code *code,
                           struct Site *site);
// A jump or a branch from `site` to the instruction numbered `to`. true:
// DISABLE the site.
bool ThreadTrace_jump(struct ThreadTrace *trace, struct Code *code,
                      struct Site *site, uint16_t to, uint32_t depth,
                      uint64_t ticks);
// Precise mode: the instruction of that number is about to run. true: DISABLE
// its site.
bool ThreadTrace_step(struct ThreadTrace *trace, struct Code *code,
                      uint16_t number, uint32_t depth, uint64_t ticks);

#endif
