// SPDX-License-Identifier: MIT
// Makes a struct Code for tests that need no bytecode. Code_free() frees it.
#pragma once

#include "ipc/base/heap.h"
#include "tracer/code/code.h"

#include <stdlib.h>

static inline struct Code *make_code(uint32_t id, uintptr_t address)
{
    struct Code *code = Heap_zeroed(1, sizeof(*code));

    if (code == NULL)
        abort();
    code->hot.id = id;
    code->who.address = address;
    code->who.name = Heap_text("name");
    code->who.file = Heap_text("file.py");
    return code;
}
