// SPDX-License-Identifier: MIT
// These fields of struct Code link it into the registry's chains and lists. The
// registry (registry.c) writes the fields, with the GIL held until the
// collector takes the code. Readers follow the atomic links in an RCU read
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
    // The code that was adopted next, or NULL for the newest.
    struct Code *_Atomic next_in_list;
    // The code that was adopted before, or NULL for the oldest.
    struct Code *previous_in_list;
    struct Code *next_retired; // next code in the list of retired code, or NULL
    // the code that was adopted before, or NULL at the end
    struct Code *next_new;
    // Ticks at which the code object was freed; 0 if it lives.
    counter_t retired_ticks;
    // True if the code is in the chain by address, even if it is retired.
    // Registry.chains guards this field.
    bool chained;
    bool taken;              // true if the collector has taken the code
    size_t registered_bytes; // bytes that the code has added to Registry.bytes
};

#endif
