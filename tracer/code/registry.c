// SPDX-License-Identifier: MIT
// Keeps each struct Code in hash chains by address, by id and by version, and
// in one list in order of adoption. Only one thread writes at a time, and this
// thread holds the GIL. A removed struct Code keeps its link to the next one,
// so that a reader at this struct Code can go on.
#include "tracer/code/registry.h"
#include "ipc/base/heap.h"
#include "tracer/code/links.h"

// This load pairs with the release of every store that makes a struct Code
// reachable.
static struct Code *follow(struct Code *const _Atomic *link)
{
    return atomic_load_explicit(link, memory_order_acquire);
}

static void point(struct Code *_Atomic *link, struct Code *code)
{
    atomic_store_explicit(link, code, memory_order_release);
}

static struct Code *_Atomic *bucket_of(struct Registry *registry,
                                       uintptr_t address)
{
    // The address is multiplied (Fibonacci hashing), because the low bits of an
    // allocator's addresses have no entropy.
    uint64_t mixed = ((uint64_t)address >> 4) * 0x9e3779b97f4a7c15u;

    return &registry->buckets[(mixed >> 32) % REGISTRY_BUCKETS];
}

static struct Code *_Atomic *bucket_of_id(struct Registry *registry,
                                          uint32_t id)
{
    return &registry->by_id[id % REGISTRY_BUCKETS];
}

static struct Code *_Atomic *bucket_of_version(struct Registry *registry,
                                               uint32_t version)
{
    return &registry->by_version[version % REGISTRY_BUCKETS];
}

// A struct Code is in three hash chains. A function of the type link_t returns
// the link of a struct Code in one of the chains.
typedef struct Code *_Atomic *link_t(struct Code *code);

static struct Code *_Atomic *by_address(struct Code *code)
{
    return &code->node.next_in_bucket;
}

static struct Code *_Atomic *by_id(struct Code *code)
{
    return &code->node.next_by_id;
}

static struct Code *_Atomic *by_version(struct Code *code)
{
    return &code->node.next_by_version;
}

static void chain(struct Code *_Atomic *bucket, struct Code *code, link_t *link)
{
    point(link(code), follow(bucket));
    point(bucket, code);
}

static void unchain(struct Code *_Atomic *bucket, struct Code *code,
                    link_t *link)
{
    while (follow(bucket) != code)
        bucket = link(follow(bucket));
    point(bucket, follow(link(code)));
}

struct Registry *Registry_new(void)
{
    struct Registry *registry = Heap_zeroed(1, sizeof(struct Registry));

    if (registry)
        pthread_mutex_init(&registry->chains, NULL);
    return registry;
}

void Registry_free_retired(struct Registry *registry)
{
    struct Code *code, *next;

    Registry_take_new(registry);
    for (code = Registry_take_retired(registry, UINT64_MAX); code;
         code = next) {
        next = code->node.next_retired;
        Code_free(code);
    }
}

void Registry_free(struct Registry *registry)
{
    struct Code *code, *next;

    if (registry == NULL)
        return;
    Registry_free_retired(registry);
    for (code = Registry_first(registry); code; code = next) {
        next = Registry_next(code);
        Code_free(code);
    }
    pthread_mutex_destroy(&registry->chains);
    Heap_free(registry);
}

uint32_t Registry_next_id(struct Registry *registry)
{
    uint32_t id = registry->newest_id;

    // After 2^32 ids, the ids begin again at 1. No function has the id 0, and
    // ids that old code still has are skipped.
    do
        id++;
    while (id == 0 || Registry_by_id(registry, id));
    // The release pairs with the acquire in Registry_newest_id.
    atomic_store_explicit(&registry->newest_id, id, memory_order_release);
    return id;
}

uint32_t Registry_newest_id(struct Registry *registry)
{
    return atomic_load_explicit(&registry->newest_id, memory_order_acquire);
}

static void push_new(struct Registry *registry, struct Code *code)
{
    struct Code *head =
        atomic_load_explicit(&registry->fresh, memory_order_relaxed);

    do { // The release pairs with the exchange in Registry_take_new.
        code->node.next_new = head;
    } while (!atomic_compare_exchange_weak_explicit(&registry->fresh, &head,
                                                    code, memory_order_release,
                                                    memory_order_relaxed));
}

void Registry_chain(struct Registry *registry, struct Code *code)
{
    pthread_mutex_lock(&registry->chains);
    chain(bucket_of(registry, code->who.address), code, by_address);
    code->node.chained = true;
    pthread_mutex_unlock(&registry->chains);
}

void Registry_unchain(struct Registry *registry, struct Code *code)
{
    pthread_mutex_lock(&registry->chains);
    unchain(bucket_of(registry, code->who.address), code, by_address);
    code->node.chained = false;
    pthread_mutex_unlock(&registry->chains);
}

void Registry_add(struct Registry *registry, struct Code *code)
{
    code->node.previous_in_list = registry->last;
    atomic_init(&code->node.next_in_list, NULL);
    Registry_chain(registry, code);
    chain(bucket_of_id(registry, code->hot.id), code, by_id);
    if (code->who.version)
        chain(bucket_of_version(registry, code->who.version), code, by_version);
    point(registry->last ? &registry->last->node.next_in_list
                         : &registry->first,
          code);
    registry->last = code;
    if (code->who.c_function)
        atomic_store_explicit(&registry->has_c, true, memory_order_relaxed);
    push_new(registry, code);
    atomic_fetch_add(&registry->count, 1);
}

static void unlink_from_list(struct Registry *registry, struct Code *code)
{
    struct Code *previous = code->node.previous_in_list;
    struct Code *next = follow(&code->node.next_in_list);

    point(previous ? &previous->node.next_in_list : &registry->first, next);
    if (next)
        next->node.previous_in_list = previous;
    else
        registry->last = previous;
}

struct Code *Registry_take_new(struct Registry *registry)
{
    return atomic_exchange_explicit(&registry->fresh, NULL,
                                    memory_order_acquire);
}

static void push_retired(struct Registry *registry, struct Code *code)
{
    struct Code *head =
        atomic_load_explicit(&registry->retired, memory_order_relaxed);

    do { // The release pairs with the exchange in Registry_take_retired.
        code->node.next_retired = head;
    } while (!atomic_compare_exchange_weak_explicit(&registry->retired, &head,
                                                    code, memory_order_release,
                                                    memory_order_relaxed));
}

void Registry_retire(struct Registry *registry, struct Code *code,
                     uint64_t ticks)
{
    pthread_mutex_lock(&registry->chains);
    if (registry->kept < REGISTRY_KEPT) {
        registry->kept++;
    } else {
        unchain(bucket_of(registry, code->who.address), code, by_address);
        code->node.chained = false;
    }
    Counter_set(&code->node.retired_ticks, code->node.chained ? ticks : 1);
    pthread_mutex_unlock(&registry->chains);
    unchain(bucket_of_id(registry, code->hot.id), code, by_id);
    if (code->who.version)
        unchain(bucket_of_version(registry, code->who.version), code,
                by_version);
    unlink_from_list(registry, code);
    atomic_fetch_sub(&registry->count, 1);
    // The collector's thread may free the struct Code from now on.
    push_retired(registry, code);
}

struct Code *Registry_find(struct Registry *registry, uintptr_t address)
{
    struct Code *code = follow(bucket_of(registry, address));

    while (code && (code->who.address != address ||
                    Counter_get(&code->node.retired_ticks)))
        code = follow(&code->node.next_in_bucket);
    return code;
}

struct Code *Registry_find_living(struct Registry *registry, uintptr_t address)
{
    struct Code *code;

    pthread_mutex_lock(&registry->chains);
    code = Registry_find(registry, address);
    pthread_mutex_unlock(&registry->chains);
    return code;
}

// In each chain, the newest struct Code comes first.
struct Code *Registry_find_at(struct Registry *registry, uintptr_t address,
                              uint32_t newest_id, uint64_t ticks)
{
    struct Code *code = follow(bucket_of(registry, address));
    uint64_t retired;

    while (code &&
           (code->who.address != address || Code_is_after(code, newest_id)))
        code = follow(&code->node.next_in_bucket);
    retired = code ? Counter_get(&code->node.retired_ticks) : 0;
    return !retired || ticks < retired ? code : NULL;
}

struct Code *Registry_by_id(struct Registry *registry, uint32_t id)
{
    struct Code *code = follow(bucket_of_id(registry, id));

    while (code && code->hot.id != id)
        code = follow(&code->node.next_by_id);
    return code;
}

struct Code *Registry_by_version(struct Registry *registry, uint32_t version)
{
    struct Code *code =
        version ? follow(bucket_of_version(registry, version)) : NULL;

    while (code && code->who.version != version)
        code = follow(&code->node.next_by_version);
    return code;
}

static void drop_dead_callers(struct Registry *registry, struct Code *code)
{
    uint32_t i, kept = 0;

    for (i = 0; i < code->links.caller_count; i++)
        if (Registry_by_id(registry, code->links.callers[i]))
            code->links.callers[kept++] = code->links.callers[i];
    code->links.caller_count = kept;
}

void Registry_link(struct Registry *registry, struct Code *caller,
                   struct Code *code)
{
    if (Code_has_caller(code, caller->hot.id))
        return;
    if (code->links.caller_count == code->links.caller_room &&
        code->hot.stop_at != CODE_NEVER)
        drop_dead_callers(registry, code);
    Code_link(caller, code);
}

struct Code *Registry_first(struct Registry *registry)
{
    return follow(&registry->first);
}

struct Code *Registry_next(const struct Code *code)
{
    return follow(&code->node.next_in_list);
}

// Removes from a chain each struct Code that the collector's thread has taken
// out of the retired code.
static void sweep(struct Registry *registry, struct Code *_Atomic *bucket)
{
    struct Code *_Atomic *link = bucket;

    pthread_mutex_lock(&registry->chains);
    while (follow(link)) {
        struct Code *code = follow(link);

        if (!code->node.taken) {
            link = &code->node.next_in_bucket;
            continue;
        }
        point(link, follow(&code->node.next_in_bucket));
        code->node.chained = false;
        registry->kept--;
    }
    pthread_mutex_unlock(&registry->chains);
}

struct Code *Registry_take_retired(struct Registry *registry, uint64_t ticks)
{
    struct Code *newest = atomic_exchange_explicit(&registry->retired, NULL,
                                                   memory_order_acquire);
    struct Code *oldest = NULL, *next;

    for (; newest; newest = next) {
        next = newest->node.next_retired;
        if (Counter_get(&newest->node.retired_ticks) >= ticks) {
            push_retired(registry, newest);
            continue;
        }
        newest->node.taken = true;
        newest->node.next_retired = oldest;
        oldest = newest;
    }
    for (struct Code *code = oldest; code; code = code->node.next_retired)
        if (code->node.chained)
            sweep(registry, bucket_of(registry, code->who.address));
    return oldest;
}

void Registry_before_fork(struct Registry *registry)
{
    pthread_mutex_lock(&registry->chains);
}

void Registry_after_fork(struct Registry *registry)
{
    pthread_mutex_unlock(&registry->chains);
}
