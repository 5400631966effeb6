// SPDX-License-Identifier: MIT
// Wraps liburcu-bp. The compiler's atomics read and write the pointers that RCU
// protects. The atomics also order accesses to the data behind the pointers,
// and ThreadSanitizer understands atomics. ThreadSanitizer does not see the
// grace periods of liburcu, so section_ends() and sections_ended() describe the
// grace periods to ThreadSanitizer.
//
// liburcu has a few bytes of thread-local memory. glibc allocates thread-local
// memory when a thread first uses it, and ends the process if memory is out.
// Only Ocular's own threads therefore use liburcu. Each of Ocular's own threads
// registers at its beginning. All other threads are called visitors. A mutex
// guards the number of open read sections of visitors.
#include "tracer/base/rcu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <urcu-bp.h>

// More bytes than glibc needs for the thread-local memory of a thread and for a
// larger table of thread-local memory.
#define TLS_BYTES (8u << 10)

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>

// For ThreadSanitizer the address of this variable stands for the ends of all
// read sections. The value of `read_sections` is not used.
static const char read_sections;

static void section_ends(void)
{
    __tsan_release((void *)&read_sections);
}

static void sections_ended(void)
{
    __tsan_acquire((void *)&read_sections);
}
#else
static void section_ends(void)
{
}

static void sections_ended(void)
{
}
#endif

// --- Threads that register, and visitors ------------------------------------

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
// The value of this key is set in each thread that has registered.
static pthread_key_t registered;
static bool has_key; // Set to true once, by make_key.

static struct {
    pthread_mutex_t lock;
    pthread_cond_t gone; // Signalled when `count` becomes 0.
    unsigned count;      // Number of open read sections of visitors.
} visitors = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void make_key(void)
{
    has_key = pthread_key_create(&registered, NULL) == 0;
}

// is_registered must not allocate memory, so is_registered uses no thread-local
// variable of Ocular.
static bool is_registered(void)
{
    pthread_once(&key_once, make_key);
    return has_key && pthread_getspecific(registered);
}

void Rcu_register(void)
{
    void *room = malloc(TLS_BYTES);

    free(room);
    if (!room || is_registered() || !has_key)
        return;
    if (pthread_setspecific(registered, &registered) != 0)
        return;
    urcu_bp_read_lock();
    urcu_bp_read_unlock();
}

static void visit(void)
{
    pthread_mutex_lock(&visitors.lock);
    visitors.count++;
    pthread_mutex_unlock(&visitors.lock);
}

// Ends a read section of a visitor. In a forked child `count` can already be 0,
// because the child sets `count` to 0 even if the forking thread was in a read
// section.
static void leave(void)
{
    pthread_mutex_lock(&visitors.lock);
    if (visitors.count && --visitors.count == 0)
        pthread_cond_broadcast(&visitors.gone);
    pthread_mutex_unlock(&visitors.lock);
}

static void wait_for_visitors(void)
{
    pthread_mutex_lock(&visitors.lock);
    while (visitors.count)
        pthread_cond_wait(&visitors.gone, &visitors.lock);
    pthread_mutex_unlock(&visitors.lock);
}

// --- Sections and grace periods --------------------------------------------

void Rcu_read_lock(void)
{
    if (is_registered())
        urcu_bp_read_lock();
    else
        visit();
}

void Rcu_read_unlock(void)
{
    if (!is_registered()) {
        leave();
        return;
    }
    section_ends();
    urcu_bp_read_unlock();
}

void *Rcu_exchange(void **slot, void *value)
{
    // The exchange pairs with the load in Rcu_dereference.
    return __atomic_exchange_n(slot, value, __ATOMIC_ACQ_REL);
}

void *Rcu_dereference(void **slot)
{
    // The load pairs with the exchange in Rcu_exchange. The load has acquire
    // order, because no compiler implements consume order.
    return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}

void Rcu_synchronize(void)
{
    urcu_bp_synchronize_rcu();
    sections_ended();
    wait_for_visitors();
}

void Rcu_before_fork(void)
{
    pthread_mutex_lock(&visitors.lock);
    urcu_bp_before_fork();
}

void Rcu_after_fork_parent(void)
{
    urcu_bp_after_fork_parent();
    pthread_mutex_unlock(&visitors.lock);
}

void Rcu_after_fork_child(void)
{
    urcu_bp_after_fork_child();
    pthread_mutex_init(&visitors.lock, NULL);
    pthread_cond_init(&visitors.gone, NULL);
    visitors.count = 0;
}
