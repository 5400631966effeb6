// SPDX-License-Identifier: MIT
// All accepted code objects that are alive, found by address or in order of
// adoption. Added and retired under the interpreter's lock and the counting
// one; read by sampler and collector inside an RCU read section.
#ifndef OCULAR_TRACER_CODE_REGISTRY_H
#define OCULAR_TRACER_CODE_REGISTRY_H

#include "tracer/code/code.h"

#include <pthread.h>

#define REGISTRY_BUCKETS 16384
#define REGISTRY_KEPT 4096 // retired codes that can be found at a time

struct Registry {
    // Guards the chains of `buckets` among those who change them: a code leaves
    // its chain only when the collector takes it, without the interpreter.
    pthread_mutex_t chains;
    struct Code *_Atomic buckets[REGISTRY_BUCKETS];
    struct Code *_Atomic by_id[REGISTRY_BUCKETS];
    struct Code *_Atomic by_version[REGISTRY_BUCKETS];
    struct Code *_Atomic first;
    struct Code *last;
    struct Code *_Atomic leaving; // on its way to the retired, or NULL
    struct Code *_Atomic retired; // a stack; the collector takes it whole
    struct Code *_Atomic fresh;   // the same, of what was added
    uint32_t kept;         // retired and in their chains; guarded as these
    _Atomic uint64_t hits; // that each may have in a second; 0: they count for
                           // good. The governor's, see Code_renew
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
// Makes the code findable by its address, without putting it into a list, and
// undoes that. No thread is in a read section.
void Registry_chain(struct Registry *registry, struct Code *code);
void Registry_unchain(struct Registry *registry, struct Code *code);
// Its code object goes, at `ticks`, which is not 0: unlinks and queues it.
// Until the collector takes it Registry_find_at still finds it.
void Registry_retire(struct Registry *registry, struct Code *code,
                     uint64_t ticks);
// In a read section: the code at `address`, or NULL.
struct Code *Registry_find(struct Registry *registry, uintptr_t address);
// The same without a read section. The caller keeps it from going: it has the
// counting lock.
struct Code *Registry_find_living(struct Registry *registry, uintptr_t address);
// In a read section: the code that was at `address` when the newest id was
// `newest_id`, at `ticks`, or NULL; it may be retired since.
struct Code *Registry_find_at(struct Registry *registry, uintptr_t address,
                              uint32_t newest_id, uint64_t ticks);
// In a read section or with one of those locks held: the code with that id, or
// NULL.
struct Code *Registry_by_id(struct Registry *registry, uint32_t id);
// In a read section: the code whose functions have that version, or NULL.
struct Code *Registry_by_version(struct Registry *registry, uint32_t version);
// Code_link(); callers that have gone make room before the list would grow.
// With the counting lock held. 0 or -ENOMEM.
int Registry_link(struct Registry *registry, struct Code *caller,
                  struct Code *code);
// In a read section: iteration in order of adoption.
struct Code *Registry_first(struct Registry *registry);
struct Code *Registry_next(const struct Code *code);
// Takes the code that was retired before `ticks` (a list by next_retired,
// oldest first); it may be freed after the next grace period. Collector.
struct Code *Registry_take_retired(struct Registry *registry, uint64_t ticks);
// Takes the code that was added since the last call, retired or not (a list by
// next_new, newest first). Called before retired code is freed. Collector.
struct Code *Registry_take_new(struct Registry *registry);
// The code that is in no list just now, as it is being retired, or NULL. A
// reader asks for it after the living and before the retired, and misses none.
struct Code *Registry_leaving(struct Registry *registry);
// The retired code that is not taken yet (a list by next_retired, newest
// first). The caller keeps others from taking it meanwhile.
struct Code *Registry_retired(struct Registry *registry);
// Frees retired code, when there are no readers.
void Registry_free_retired(struct Registry *registry);
// Around each fork, on the forking thread: the child finds the chains whole and
// can change them.
void Registry_before_fork(struct Registry *registry);
void Registry_after_fork(struct Registry *registry); // in parent and child

#endif
