// SPDX-License-Identifier: MIT
// Finds the name of a function id, even if the code object no longer exists. A
// struct Names keeps a limited number of names of retired code. The collector
// adds names, and any thread may ask for a name.
#ifndef OCULAR_TRACER_TIMELINE_NAMES_H
#define OCULAR_TRACER_TIMELINE_NAMES_H

#include "tracer/code/registry.h"
#include "tracer/timeline/trace.h"

#include <pthread.h>

#define NAMES_ROOM 16384 // number of names of retired code that are kept

struct RetiredName {
    uint32_t id;
    uint32_t line;
    uintptr_t address;
    uint32_t next; // slot + 1 of the next older name with the same place in the
                   // table
    char *name;    // NULL if the slot is free
    char *file;
};

struct RetiredNames {
    struct RetiredName slots[NAMES_ROOM]; // a ring
    uint32_t first[NAMES_ROOM]; // slot + 1 by id modulo NAMES_ROOM, or 0
};

struct Names {
    pthread_mutex_t mutex;
    struct RetiredNames *retired; // allocated at the first retirement
    uint64_t count;               // number of names that were ever retired
    size_t bytes;                 // held
};

void Names_init(struct Names *names);
void Names_release(struct Names *names);
// Moves the names from a retired code object to the ring.
void Names_retire(struct Names *names, struct Code *code);
size_t Names_bytes(struct Names *names);
// Stores the ids of the retired code whose names are kept, at most NAMES_ROOM.
// Returns the number of ids.
size_t Names_retired(struct Names *names, uint32_t *ids);

// A caller's copy of the found name. The struct is the context of
// PerfettoTrace.name.
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

#endif
