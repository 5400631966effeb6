// SPDX-License-Identifier: MIT
// Makes an engine without an interpreter, adds code to it, and calls this code.
// Tests of code that uses the engine include this file.
#pragma once

#include "tests/tracer/make_opcodes.h"
#include "tracer/hook/thread_trace_call.h"
#include "tracer/session/engine.h"

#include <stdlib.h>

// A thread state of the simulated interpreter, laid out as engine->layout says.
struct MadeThread {
    uintptr_t frame, chunk, top;
};

static inline void make_engine(struct Engine *engine)
{
    if (Engine_init(engine))
        abort();
    Clock_start(&engine->clock);
    make_opcodes(&engine->opcodes);
    engine->layout = (struct FrameLayout){
        .thread_frame = offsetof(struct MadeThread, frame),
        .thread_chunk = offsetof(struct MadeThread, chunk),
        .frame_code = 0,
        .frame_previous = sizeof(uintptr_t),
        .frame_instruction = 2 * sizeof(uintptr_t),
        .code_mask = ~(uintptr_t)3,
    };
    snprintf(engine->python, sizeof engine->python, "CPython 3.99");
    snprintf(engine->command, sizeof engine->command, "python app.py");
}

// Adds a code object with three sites at RESUME, at JUMP_BACKWARD in a loop,
// and at RETURN_VALUE.
static inline struct Code *add_code(struct Engine *engine, const char *name,
                                    uint64_t threshold)
{
    static const uint8_t bytecode[] = {
        RESUME, 0, LOAD_FAST, 0, JUMP_BACKWARD, 3, CACHE, 0, RETURN_VALUE, 0};
    uint32_t id = Registry_next_id(engine->registry);
    struct CodeSource source = {.address = 0x10000 + 64 * (uintptr_t)id,
                                .name = name,
                                .file = "/app/app.py",
                                .line = id,
                                .bytecode = bytecode,
                                .bytecode_size = sizeof bytecode,
                                .line_table = bytecode};
    struct Code *code =
        Code_new(id, &source, &engine->opcodes, threshold, false);

    if (!code)
        abort();
    Registry_add(engine->registry, code);
    return code;
}

static inline struct ThreadTrace *add_trace(struct Engine *engine,
                                            bool timeline)
{
    struct ThreadTrace *trace =
        ThreadTraces_add(&engine->traces, engine->registry, &engine->contention,
                         timeline, Clock_read(&engine->clock));

    if (!trace)
        abort();
    return trace;
}

// Makes one call from depth 0, which begins at the time `ticks`.
static inline void call(struct ThreadTrace *trace, struct Code *code,
                        uint64_t ticks)
{
    ThreadTrace_enter(trace, code, 1, 0, ticks);
    ThreadTrace_leave(trace, code, &code->layout.sites[2], 1, ticks + 1);
}
