// SPDX-License-Identifier: MIT
// For tests of hooks without an interpreter: registers functions made of
// bytecode, and reads the counts of their calls. A file that includes this file
// must include cmocka.h first.
#pragma once

#include "tests/tracer/make_opcodes.h"
#include "tracer/code/registry.h"

#include <stdlib.h>

enum { JUMP_SITE = 1, RETURN_SITE = 2 }; // Indices of two sites of LOOP.

// clang-format off
static const uint8_t LOOP[] = {
    RESUME, 0,                  // code unit 0, instruction 0
    LOAD_FAST, 0,               // 1, 1
    JUMP_BACKWARD, 3, CACHE, 0, // 2, 2
    RETURN_VALUE, 0,            // 4, 3
};
// clang-format on

static inline struct Code *make_function(struct Registry *registry,
                                         const struct Opcodes *opcodes,
                                         const uint8_t *bytecode, size_t size,
                                         uint64_t threshold)
{
    uint32_t id = Registry_next_id(registry);
    struct CodeSource source = {.address = 0x10000 + 64 * (uintptr_t)id,
                                .name = "f",
                                .file = "f.py",
                                .bytecode = bytecode,
                                .bytecode_size = size,
                                .line_table = bytecode};
    struct Code *code = Code_new(id, &source, opcodes, threshold, false);

    if (!code)
        abort();
    Registry_add(registry, code);
    return code;
}

static inline void expect_calls(const struct Code *code, uint64_t calls,
                                uint64_t self_calls, uint64_t self,
                                uint64_t total)
{
    assert_int_equal(Counter_get(&code->hot.entries), calls);
    assert_int_equal(Counter_get(&code->hot.self_calls), self_calls);
    assert_int_equal(Counter_get(&code->hot.self_cycles), self);
    assert_int_equal(Counter_get(&code->hot.total_cycles), total);
}
