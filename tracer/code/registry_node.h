// SPDX-License-Identifier: MIT
// Writer: the registry (registry.c), under the interpreter's lock until the
// collector takes the code. The part of struct Code that links it into the
// registry's chains and lists. Readers follow the atomic links inside an RCU
// read section.
#ifndef OCULAR_TRACER_CODE_REGISTRY_NODE_H
#define OCULAR_TRACER_CODE_REGISTRY_NODE_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stddef.h>

struct Code;

struct RegistryNode {
    struct Code *_Atomic next_in_bucket;  // with that address; NULL: the last
    struct Code *_Atomic next_by_id;      // in its chain; NULL: the last
    struct Code *_Atomic next_by_version; // in its chain; NULL: the last
    struct Code *_Atomic next_in_list;    // adopted next; NULL: the newest
    struct Code *previous_in_list;        // adopted before; NULL: the oldest
    struct Code *next_retired;            // NULL: the last
    struct Code *next_new;                // adopted before; NULL: the last
    counter_t retired_ticks; // ticks when its code object went; 0: it lives
    bool chained;            // in the chain by address, retired or not; guarded
                             // by Registry.chains
    bool taken;              // the collector has taken it
    size_t registered_bytes; // bytes that it has added to Registry.bytes
};

#endif
