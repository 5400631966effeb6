// SPDX-License-Identifier: MIT
// FlameNames_set finds the names of the functions in a table of stacks. Any
// thread may call FlameNames_set.
#pragma once

#include "ipc/flame_table.h"
#include "tracer/code/registry.h"
#include "tracer/sample/native.h"

// Sets the names of the table's functions that still exist.
void FlameNames_set(struct FlameTable *table, struct Registry *registry,
                    struct Native *native);
