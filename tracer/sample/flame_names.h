// SPDX-License-Identifier: MIT
// Names the functions of a table of stacks. Any thread may call this code.
#ifndef OCULAR_TRACER_SAMPLE_FLAME_NAMES_H
#define OCULAR_TRACER_SAMPLE_FLAME_NAMES_H

#include "ipc/flame_table.h"
#include "tracer/code/registry.h"

// Sets the names of functions that still exist. Returns false if memory is out.
bool FlameNames_set(struct FlameTable *table, struct Registry *registry);

#endif
