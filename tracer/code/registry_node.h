// SPDX-License-Identifier: MIT
// These fields of struct Code link it into the registry's chains and lists. The
// registry (registry.c) writes the fields. Until the collector takes the code,
// the writer holds the GIL. Readers follow the atomic links in an RCU read
// section.
#ifndef OCULAR_TRACER_CODE_REGISTRY_NODE_H
#define OCULAR_TRACER_CODE_REGISTRY_NODE_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stddef.h>

struct Code;

struct RegistryNode {
    // Next code in the chain by address, or NULL.
    struct Code *_Atomic next_in_bucket;
    struct Code *_Atomic next_by_id; // next code in the chain by id, or NULL
    // next code in the chain by version, or NULL
    struct Code *_Atomic next_by_version;
    // The code that was adopted after this code, or NULL for the newest code.
    struct Code *_Atomic next_in_list;
    // The code that was adopted before this code, or NULL for the oldest code.
    struct Code *previous_in_list;
    struct Code *next_retired; // next code in the list of retired code, or NULL
    // next older code in the list of new code, or NULL
    struct Code *next_new;
    // Ticks at which the code object was freed; 0 if it lives.
    counter_t retired_ticks;
    // True if the code is in the chain by address, even if it is retired.
    // Registry.chains guards this field.
    bool chained;
    bool taken; // true if the collector has taken the code
    uint32_t
        registered_bytes; // bytes that the code has added to Registry.bytes
};

#endif
