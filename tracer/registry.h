// SPDX-License-Identifier: MIT
// All accepted code objects that are alive, found by address or in order of
// adoption. Added and retired under the interpreter's lock; read by sampler
// and collector inside an RCU read section.
#ifndef OCULAR_TRACER_REGISTRY_H
#define OCULAR_TRACER_REGISTRY_H

#include "tracer/code.h"

#define REGISTRY_BUCKETS 16384

struct Registry {
    struct Code *_Atomic buckets[REGISTRY_BUCKETS];
    struct Code *_Atomic by_id[REGISTRY_BUCKETS];
    struct Code *_Atomic by_version[REGISTRY_BUCKETS];
    struct Code *_Atomic first;
    struct Code *last;
    struct Code *_Atomic leaving; // on its way to the retired, or NULL
    struct Code *_Atomic retired; // a stack; the collector takes it whole
    _Atomic uint64_t count;
    _Atomic uint64_t bytes;     // of the codes, as they were when added
    _Atomic uint32_t newest_id; // given out
};

struct Registry *Registry_new(void); // NULL when memory is out
// Frees all code in it and all that was retired; no readers left.
void Registry_free(struct Registry *registry);
uint32_t Registry_next_id(struct Registry *registry);
// The newest id given out: what is adopted later comes after it. Any thread.
uint32_t Registry_newest_id(struct Registry *registry);
void Registry_add(struct Registry *registry, struct Code *code);
// Unlinks and queues it; the memory stays until the collector reclaims it.
void Registry_retire(struct Registry *registry, struct Code *code);
size_t Registry_count(struct Registry *registry);
// In a read section: the code at that address, or NULL.
struct Code *Registry_find(struct Registry *registry, uintptr_t address);
// In a read section or with the interpreter's lock held: the code with that
// id, or NULL.
struct Code *Registry_by_id(struct Registry *registry, uint32_t id);
// In a read section: the code whose functions have that version, or NULL.
struct Code *Registry_by_version(struct Registry *registry, uint32_t version);
// Code_link(); callers that have gone make room before the list would grow.
// With the interpreter's lock held. 0 or -ENOMEM.
int Registry_link(struct Registry *registry, struct Code *caller,
                  struct Code *code);
// In a read section: iteration in order of adoption.
struct Code *Registry_first(struct Registry *registry);
struct Code *Registry_next(const struct Code *code);
// Takes all that was retired (a list by next_retired, oldest first); it may be
// freed after the next grace period. Collector.
struct Code *Registry_take_retired(struct Registry *registry);
// One of these for the next time.
void Registry_put_back(struct Registry *registry, struct Code *code);
// What is in no list just now, as it is being retired, or NULL. Asked for after
// the living and before the retired, nothing is missed.
struct Code *Registry_leaving(struct Registry *registry);
// What is retired and not taken yet (a list by next_retired, newest first).
// Whoever keeps others from taking it meanwhile.
struct Code *Registry_retired(struct Registry *registry);
// Frees what was retired, when there are no readers.
void Registry_free_retired(struct Registry *registry);

#endif
