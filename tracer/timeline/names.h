// SPDX-License-Identifier: MIT
// Finds the name of the function with a given id, even if the code object no
// longer exists. A struct Names keeps a limited number of names of retired
// code. The collector's thread adds names, and any thread may ask for a name.
#pragma once

#include "tracer/code/registry.h"
#include "tracer/timeline/trace.h"

#include <pthread.h>

// Largest number of names of retired code that are kept.
#define NAMES_ROOM 16384

struct RetiredName {
    uint32_t id;
    uint32_t line;
    uintptr_t address;
    // Slot plus 1 of the next older name with the same index in `first`, or 0
    // if there is none.
    uint32_t next;
    char *name; // NULL if the slot is free.
    char *file;
};

struct RetiredNames {
    // A ring, in which the newest name overwrites the oldest.
    struct RetiredName slots[NAMES_ROOM];
    // For each index, slot plus 1 of the newest name whose id modulo NAMES_ROOM
    // is the index, or 0 if there is none.
    uint32_t first[NAMES_ROOM];
};

struct Names {
    pthread_mutex_t mutex;
    struct RetiredNames *retired; // NULL until the first name is retired.
    uint64_t count;               // Number of all names ever retired.
};

void Names_init(struct Names *names);
void Names_release(struct Names *names);
// Moves the names out of a retired code object into the ring.
void Names_retire(struct Names *names, struct Code *code);
// Stores in `ids` the ids of all functions whose names are kept, at most
// NAMES_ROOM. Returns the number of stored ids.
size_t Names_retired(struct Names *names, uint32_t *ids);

// The caller's copy of a name that NameQuery_find has found. struct NameQuery
// is the context of PerfettoTrace.name.
struct NameQuery {
    struct Names *names;
    struct Registry *registry;
    char *name;
    char *file;
};

void NameQuery_init(struct NameQuery *query, struct Names *names,
                    struct Registry *registry);
void NameQuery_release(struct NameQuery *query);
bool NameQuery_find(void *query, uint32_t id, struct PerfettoName *name);
