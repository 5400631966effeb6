// SPDX-License-Identifier: MIT
// Writer: the registry (registry.c), with the GIL until the collector takes the
// code. These fields of struct Code link it into the registry's chains and
// lists. Readers follow the atomic links in an RCU read section.
#ifndef OCULAR_TRACER_CODE_REGISTRY_NODE_H
#define OCULAR_TRACER_CODE_REGISTRY_NODE_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stddef.h>

struct Code;

struct RegistryNode {
    // next in the chain by address; NULL: the last
    struct Code *_Atomic next_in_bucket;
    struct Code *_Atomic next_by_id; // next in the chain by id; NULL: the last
    // next in the chain by version; NULL: the last
    struct Code *_Atomic next_by_version;
    // the code adopted next; NULL: the newest
    struct Code *_Atomic next_in_list;
    struct Code *previous_in_list; // the code adopted before; NULL: the oldest
    struct Code *next_retired;     // next in the list; NULL: the last
    struct Code *next_new;         // the code adopted before; NULL: the last
    // ticks when the code object was freed; 0: it lives
    counter_t retired_ticks;
    // The code is in the chain by address, retired or not. Registry.chains
    // guards this field.
    bool chained;
    bool taken;              // the collector has taken the code
    size_t registered_bytes; // bytes that the code has added to Registry.bytes
};

#endif
