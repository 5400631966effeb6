// SPDX-License-Identifier: MIT
// Thin calls into liburcu-bp. Pointers go through the compiler's atomics, which
// order the data behind them and which ThreadSanitizer understands; it cannot
// see into the library's grace periods, so they are announced to it.
//
// liburcu has a few bytes of thread-local memory, which glibc allocates when a
// thread first touches them; where memory is out it ends the process. So only
// threads of ours use it, which have registered when they began. Others are
// visitors: they are counted under a mutex.
#include "tracer/base/rcu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <urcu-bp.h>

// More than glibc needs for a thread's block of thread-local memory and
// for a larger table of such blocks.
#define TLS_BYTES (8u << 10)

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>

// A name for "the ends of all read sections"; nothing is stored in it.
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

// --- Who reads how ---------------------------------------------------------

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t registered; // set in threads that have registered
static bool has_key;             // written once, by make_key

static struct {
    pthread_mutex_t lock;
    pthread_cond_t gone; // there is none any more
    unsigned count;      // sections of theirs that are open
} visitors = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void make_key(void)
{
    has_key = pthread_key_create(&registered, NULL) == 0;
}

// Never allocates, unlike a thread-local variable of our own.
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

// A child forgets its parent's visitors; the one that forked it may be one.
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
    // Pairs with Rcu_dereference.
    return __atomic_exchange_n(slot, value, __ATOMIC_ACQ_REL);
}

void *Rcu_dereference(void **slot)
{
    // Pairs with Rcu_exchange. Acquire, because no compiler implements consume.
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
