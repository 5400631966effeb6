// SPDX-License-Identifier: MIT
// Thin calls into liburcu-bp. Pointers go through the compiler's atomics, which
// order what they point to and which ThreadSanitizer understands; it cannot see
// into the library's grace periods, so those are told to it.
#include "tracer/rcu.h"

#include <urcu-bp.h>

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

void Rcu_read_lock(void)
{
    urcu_bp_read_lock();
}

void Rcu_read_unlock(void)
{
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
}

void Rcu_before_fork(void)
{
    urcu_bp_before_fork();
}

void Rcu_after_fork_parent(void)
{
    urcu_bp_after_fork_parent();
}

void Rcu_after_fork_child(void)
{
    urcu_bp_after_fork_child();
}
