// SPDX-License-Identifier: MIT
// Writes a hit of 24 bytes into the ring. Writing a hit touches one cache line
// of the ring and one cache line of the table of dark sites. Hooks call these
// functions on the traced thread with the GIL held.
#pragma once

#include "python/hooks/frame_stack.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/thread_state.h"

#define WRITER_UNLIKELY(x) __builtin_expect(!!(x), 0)

// Writes a hit, unless the event has to be counted at once. Returns false if
// the slow path must run. May be called only if ocular_state.fast is true.
static inline __attribute__((always_inline)) bool
Writer_write(PyObject *code, enum HitKind kind, size_t unit, size_t to)
{
    struct HitRing *ring = &ocular_state.engine.counting.ring;
    const PyThreadState *state = ThreadState_fast();
    uint32_t depth = ThreadState_depth(state);
    uint64_t who = Hit_who((uintptr_t)code, kind), ticks;

    if (WRITER_UNLIKELY(own_trace != atomic_load_explicit(
                                         &ring->trace, memory_order_relaxed) ||
                        ThreadState_chunk(state) != ring->chunk ||
                        atomic_load_explicit(
                            &ring->head, memory_order_relaxed) == ring->limit ||
                        !Hit_fits(depth, unit, to) ||
                        HitRing_is_dark(ring, HitRing_key(who, unit))))
        return false;
    if (kind == HIT_ENTER &&
        WRITER_UNLIKELY((uintptr_t)code == ring->task_code))
        return false;
    to = FrameStack_to(state, kind, to);
    ticks = Clock_counter();
    if (WRITER_UNLIKELY(ticks - ring->last > HitRing_brief(ring, kind)))
        return false;
    HitRing_push(ring, ticks, who, Hit_where(depth, unit, to));
    return true;
}

// Writes a hit that Writer_write refused because the ring was full, because
// another thread had run, or because much time had passed. The time of
// Writer_write_again is charged as overhead. Returns false if the event must be
// counted at once (call.h).
bool Writer_write_again(PyObject *code, enum HitKind kind, size_t unit,
                        size_t to);
// Charges the time since `begin`, and `more` ticks, as overhead. Returns
// false if no hit can be written, or if the kernel has to be asked first who
// had the CPU.
bool Writer_pay(uint64_t begin, uint64_t more);
