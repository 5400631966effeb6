// SPDX-License-Identifier: MIT
// Holds all accepted code objects that still exist. A code object can be found
// by its address, and all code objects can be listed in the order of their
// adoption. A thread that holds the GIL and the counting lock adds and retires
// code. The sampler and the collector use the registry in an RCU read section.
#ifndef OCULAR_TRACER_CODE_REGISTRY_H
#define OCULAR_TRACER_CODE_REGISTRY_H

#include "tracer/code/latency.h"

#include <pthread.h>

#define REGISTRY_BUCKETS 16384
// Registry_find_at can find at most this number of retired Codes.
#define REGISTRY_KEPT 4096

struct Registry {
    // Guards the chains of `buckets` against concurrent changes. The collector
    // removes a retired Code from its chain without the GIL.
    pthread_mutex_t chains;
    struct Code *_Atomic buckets[REGISTRY_BUCKETS];
    struct Code *_Atomic by_id[REGISTRY_BUCKETS];
    struct Code *_Atomic by_version[REGISTRY_BUCKETS];
    struct Code *_Atomic first;
    struct Code *last;
    struct Code *_Atomic leaving; // Code that is being retired, or NULL
    // a stack of retired code; the collector takes the whole stack
    struct Code *_Atomic retired;
    // A stack of added code; the collector takes the whole stack.
    struct Code *_Atomic fresh;
    uint32_t kept; // number of retired Codes in the chains; guarded by `chains`
    // The hits per second of each site; 0 means that hits are never renewed.
    // The governor writes this field (Code_renew).
    _Atomic uint64_t hits;
    _Atomic uint64_t count;
    // Bytes of all code, as measured when the code was added.
    _Atomic uint64_t bytes;
    _Atomic uint32_t newest_id; // the newest id that a Code has got
    struct Latencies latencies; // the counting lock guards this field
};

struct Registry *Registry_new(void); // returns NULL if memory is out
// Frees all living and all retired code. There must be no readers.
void Registry_free(struct Registry *registry);
uint32_t Registry_next_id(struct Registry *registry);
// Returns the newest id that a Code has got. Code that is adopted later has a
// later id. Any thread may call this function.
uint32_t Registry_newest_id(struct Registry *registry);
void Registry_add(struct Registry *registry, struct Code *code);
// Adds the code to the chain by address, but to no list. Registry_unchain
// undoes this. No thread may be in a read section during the call.
void Registry_chain(struct Registry *registry, struct Code *code);
void Registry_unchain(struct Registry *registry, struct Code *code);
// Unlinks and queues the code, because the code object is freed at the time
// `ticks`. `ticks` must not be 0. Registry_find_at finds the code until the
// collector takes the code.
void Registry_retire(struct Registry *registry, struct Code *code,
                     uint64_t ticks);
// Returns the code at `address`, or NULL. The caller is in a read section.
struct Code *Registry_find(struct Registry *registry, uintptr_t address);
// Returns the code at `address`, or NULL, without a read section. The caller
// holds the counting lock, so no thread retires the code during the call.
struct Code *Registry_find_living(struct Registry *registry, uintptr_t address);
// Returns the code that was at `address` at the time `ticks`, or NULL.
// `newest_id` is the newest id of the time `ticks`. The code may be retired
// now. The caller is in a read section.
struct Code *Registry_find_at(struct Registry *registry, uintptr_t address,
                              uint32_t newest_id, uint64_t ticks);
// Returns the code with this id, or NULL. The caller is in a read section, or
// holds the GIL or the counting lock.
struct Code *Registry_by_id(struct Registry *registry, uint32_t id);
// Returns the code whose functions have this version, or NULL. The caller is in
// a read section.
struct Code *Registry_by_version(struct Registry *registry, uint32_t version);
// Calls Code_link(). If the list of callers would have to grow, first removes
// callers whose code was freed. The caller holds the counting lock. Returns
// what Code_link returns.
int Registry_link(struct Registry *registry, struct Code *caller,
                  struct Code *code);
// The next two functions iterate in order of adoption. The caller is in a read
// section.
struct Code *Registry_first(struct Registry *registry);
struct Code *Registry_next(const struct Code *code);
// Takes the code that was retired before `ticks`. The result is a list linked
// by next_retired, with the oldest code first. The code may be freed after the
// next grace period. Only the collector calls this function.
struct Code *Registry_take_retired(struct Registry *registry, uint64_t ticks);
// Takes all code that was added since the last call, even if the code is
// already retired. The result is a list linked by next_new, with the newest
// code first. The collector calls this function before it frees retired code.
struct Code *Registry_take_new(struct Registry *registry);
// Returns the code that is in no list now because it is being retired, or NULL.
// A reader that reads first the living code, then this code and then the
// retired code sees all code.
struct Code *Registry_leaving(struct Registry *registry);
// Returns the retired code that is not taken yet, as a list linked by
// next_retired, with the newest code first. The caller must prevent other
// threads from taking this code.
struct Code *Registry_retired(struct Registry *registry);
// Frees retired code. There must be no readers.
void Registry_free_retired(struct Registry *registry);
// The forking thread calls these functions around each fork, so that the child
// finds complete chains and can change them.
void Registry_before_fork(struct Registry *registry);
// Called in the parent and in the child.
void Registry_after_fork(struct Registry *registry);

#endif
