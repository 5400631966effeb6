// SPDX-License-Identifier: MIT
// The name of a function id, also after its code object has gone: a bounded
// number of names of retired code is kept for the timeline. The collector adds;
// any thread asks.
#ifndef OCULAR_TRACER_TIMELINE_NAMES_H
#define OCULAR_TRACER_TIMELINE_NAMES_H

#include "tracer/code/registry.h"
#include "tracer/timeline/trace.h"

#include <pthread.h>

#define NAMES_ROOM 16384 // retired code objects remembered

struct RetiredName {
    uint32_t id;
    uint32_t line;
    uintptr_t address;
    uint32_t next; // older one with the same place in the table: slot + 1
    char *name;    // NULL: a free slot
    char *file;
};

struct RetiredNames {
    struct RetiredName slots[NAMES_ROOM]; // a ring
    uint32_t first[NAMES_ROOM]; // by id modulo NAMES_ROOM: slot + 1, 0 = none
};

struct Names {
    pthread_mutex_t mutex;
    struct RetiredNames *retired; // allocated at the first retirement
    uint64_t count;               // retired in all
    size_t bytes;                 // held
};

void Names_init(struct Names *names);
void Names_release(struct Names *names);
// Moves the names out of a retired code object.
void Names_retire(struct Names *names, struct Code *code);
size_t Names_bytes(struct Names *names);

// One asker's copy of the answer, and the context of PerfettoTrace.name.
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
