// SPDX-License-Identifier: MIT
// struct RegistryNode links a struct Code into the registry's chains and lists.
// Only the registry (registry.c) writes struct RegistryNode. A writer of struct
// RegistryNode holds the GIL. The collector's thread needs no GIL after it has
// taken the code out of the retired code. Readers follow the atomic links in an
// RCU read section.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>

struct Code;

struct RegistryNode {
    // Next code in the chain by address, or NULL.
    struct Code *_Atomic next_in_bucket;
    struct Code *_Atomic next_by_id; // Next code in the chain by id, or NULL.
    // Next code in the chain by version, or NULL.
    struct Code *_Atomic next_by_version;
    // The code that was added after this code, or NULL for the newest code.
    struct Code *_Atomic next_in_list;
    // The code that was added before this code, or NULL for the oldest code.
    struct Code *previous_in_list;
    // Next code in the list of retired code, or NULL.
    struct Code *next_retired;
    // Next older code in the list of new code, or NULL.
    struct Code *next_new;
    // Ticks at which the code object was freed, or 0 while the code object
    // exists.
    counter_t retired_ticks;
    // True if the code is in the chain by address, even if it is retired.
    // Registry.chains guards `chained`.
    bool chained;
    // True if the collector's thread has taken the code out of the retired
    // code.
    bool taken;
};
