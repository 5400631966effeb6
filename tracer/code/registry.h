// SPDX-License-Identifier: MIT
// Holds all accepted code objects that still exist. The registry finds a code
// object by its address, and lists all code objects in the order in which
// Ocular found them. A thread that adds or retires code holds the GIL and the
// counting lock. The sampler and the collector's thread use the registry in an
// RCU read section.
#pragma once

#include "tracer/code/latency.h"

#include <pthread.h>

#define REGISTRY_BUCKETS 16384
// Largest number of structs Code that Registry_find_at can find after their
// retirement.
#define REGISTRY_KEPT 4096

struct Registry {
    // Guards the chains in `buckets` against two changes at the same time. The
    // collector's thread removes a retired struct Code from its chain without
    // the GIL.
    pthread_mutex_t chains;
    struct Code *_Atomic buckets[REGISTRY_BUCKETS];
    struct Code *_Atomic by_id[REGISTRY_BUCKETS];
    struct Code *_Atomic by_version[REGISTRY_BUCKETS];
    struct Code *_Atomic first;
    struct Code *last;
    // The stack of retired code, which the collector's thread takes as a whole.
    struct Code *_Atomic retired;
    // The stack of added code, which the collector's thread takes as a whole.
    struct Code *_Atomic fresh;
    // Number of retired structs Code in the chains. The mutex `chains` guards
    // `kept`.
    uint32_t kept;
    // Number of hits that each hook may have in a second. If `hits` is 0, hooks
    // get no new hits. The governor writes `hits`, and Code_renew reads `hits`.
    _Atomic uint64_t hits;
    _Atomic uint64_t count;
    _Atomic uint32_t newest_id; // The newest id of a struct Code.
    _Atomic bool has_c;         // True after a C function was added.
    struct Latencies latencies; // Guarded by the counting lock.
};

struct Registry *Registry_new(void); // Returns NULL if memory is out.
// Registry_free frees all living and all retired code. No thread may use the
// registry during the call.
void Registry_free(struct Registry *registry);
uint32_t Registry_next_id(struct Registry *registry);
// Returns the newest id of a struct Code. Code that is added after this call
// has a later id. Any thread may call Registry_newest_id.
uint32_t Registry_newest_id(struct Registry *registry);
void Registry_add(struct Registry *registry, struct Code *code);
// Adds the code to the hash chain by address, but to no list. Registry_unchain
// undoes Registry_chain. No thread may be in a read section during the call.
void Registry_chain(struct Registry *registry, struct Code *code);
void Registry_unchain(struct Registry *registry, struct Code *code);
// Moves the code from the list of living code to the retired code, because the
// code object is freed at the time `ticks`. `ticks` must not be 0.
// Registry_find_at finds the code until the collector's thread takes the code.
void Registry_retire(struct Registry *registry, struct Code *code,
                     uint64_t ticks);
// Returns the code at `address`, or NULL. The caller of Registry_find is in a
// read section.
struct Code *Registry_find(struct Registry *registry, uintptr_t address);
// Returns the living code at `address`, or NULL, without a read section. The
// caller holds the counting lock, so no thread can retire the code during the
// call.
struct Code *Registry_find_living(struct Registry *registry, uintptr_t address);
// Returns the code that was at `address` at the time `ticks`, or NULL.
// `newest_id` is the result of Registry_newest_id at the time `ticks`. The
// returned code can already be retired. The caller of Registry_find_at is in a
// read section.
struct Code *Registry_find_at(struct Registry *registry, uintptr_t address,
                              uint32_t newest_id, uint64_t ticks);
// Returns the code with the id `id`, or NULL. The caller is in a read section,
// or holds the GIL or the counting lock.
struct Code *Registry_by_id(struct Registry *registry, uint32_t id);
// Returns the code whose functions have the version `version`, or NULL. The
// caller of Registry_by_version is in a read section.
struct Code *Registry_by_version(struct Registry *registry, uint32_t version);
// Adds the call edge from `caller` to `code`, if it is new (Code_link). If the
// list of callers is full, first removes callers whose code was freed. The
// caller holds the counting lock.
void Registry_link(struct Registry *registry, struct Code *caller,
                   struct Code *code);
// Registry_first and Registry_next iterate over the living code, in the order
// in which it was added. The caller of Registry_first and Registry_next is in a
// read section.
struct Code *Registry_first(struct Registry *registry);
struct Code *Registry_next(const struct Code *code);
// Takes the code that was retired before the time `ticks` out of the retired
// code. The result is a list that is linked by `next_retired`, with the oldest
// code first. The caller may free the code after the next grace period. Only
// the collector's thread calls Registry_take_retired.
struct Code *Registry_take_retired(struct Registry *registry, uint64_t ticks);
// Takes all code that was added since the last call of Registry_take_new, even
// if the code is already retired. The result is a list that is linked by
// `next_new`, with the newest code first. The collector's thread calls
// Registry_take_new before it frees retired code.
struct Code *Registry_take_new(struct Registry *registry);
// Frees retired code. No thread may read the retired code during the call.
void Registry_free_retired(struct Registry *registry);
// The forking thread calls Registry_before_fork and Registry_after_fork around
// each fork, so that the child finds complete chains and can change them.
void Registry_before_fork(struct Registry *registry);
// Registry_after_fork is called in the parent and in the child.
void Registry_after_fork(struct Registry *registry);
