// SPDX-License-Identifier: MIT
// Adds up the sampled stacks of several processes, separately for each path of
// callers.
#pragma once

#include "ipc/base/id_map.h"
#include "ipc/flame_table.h"

struct MergeStacks {
    const struct FlameTable *stacks;
    const struct IdMap *ids; // Process's function ids -> ids of merged rows.
};

// Returns the sum of the tables of stacks, or NULL if memory is out.
struct FlameTable *MergeStacks_make(const struct MergeStacks *parts,
                                    size_t count);
