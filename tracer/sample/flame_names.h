// SPDX-License-Identifier: MIT
// Names the functions of a table of stacks. Any thread.
#ifndef OCULAR_TRACER_SAMPLE_FLAME_NAMES_H
#define OCULAR_TRACER_SAMPLE_FLAME_NAMES_H

#include "ipc/flame_table.h"
#include "tracer/code/registry.h"

// Of those that are living. false: memory is out.
bool FlameNames_set(struct FlameTable *table, struct Registry *registry);

#endif
