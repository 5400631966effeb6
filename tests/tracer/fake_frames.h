// SPDX-License-Identifier: MIT
// For tests that read the stacks of threads: makes the frames of a simulated
// interpreter, and the layout that describes them.
#pragma once

#include "tracer/sample/walk.h"

#include <stddef.h>

struct FakeFrame {
    uintptr_t code, previous, instruction;
};

struct FakeThread {
    uintptr_t frame, chunk, top;
    struct FakeFrame frames[WALK_DEPTH + 20];
};

static const struct FrameLayout LAYOUT = {
    .thread_frame = offsetof(struct FakeThread, frame),
    .thread_chunk = offsetof(struct FakeThread, chunk),
    .frame_code = offsetof(struct FakeFrame, code),
    .frame_previous = offsetof(struct FakeFrame, previous),
    .frame_instruction = offsetof(struct FakeFrame, instruction),
    .code_mask = ~(uintptr_t)3,
};
