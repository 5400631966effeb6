// SPDX-License-Identifier: MIT
// Handles the beginning of a line, and the end of a basic block, of an
// iteration of a loop or, in precise mode, of an instruction. The cycles are
// added to the site or the instruction of the end. The caller of the functions
// of thread_trace_block.h holds the counting lock. `ticks` is the value of the
// time stamp counter that the hook has read.
#pragma once

#include "tracer/hook/hit.h"
#include "tracer/hook/thread_trace.h"

// Adds the time since the newest hit of a line in this frame, or since the
// beginning of the call, to the time of the function's lines. Returns false if
// this time is not known.
bool ThreadTrace_end_line(struct Frame *frame, struct LineHits *lines);
// Ends a block at the site `site`.
void ThreadTrace_end_block(struct Frame *frame, const struct Code *code,
                           struct Site *site);
// Counts a jump or a branch from `site` to the instruction `to`. Returns true
// if the hook should return DISABLE.
bool ThreadTrace_jump(struct ThreadTrace *trace, struct Code *code,
                      struct Site *site, uint16_t to, uint32_t depth,
                      uint64_t ticks);
// Counts the line of a HIT_LINE, which is about to run. Returns true if the
// hook should return DISABLE.
bool ThreadTrace_line(struct ThreadTrace *trace, struct Code *code,
                      const struct Hit *hit, uint32_t depth);
// In precise mode, counts the instruction `number`, which is about to run.
// Returns true if the hook should return DISABLE.
bool ThreadTrace_step(struct ThreadTrace *trace, struct Code *code,
                      uint16_t number, uint32_t depth, uint64_t ticks);
