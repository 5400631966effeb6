// SPDX-License-Identifier: MIT
// The paths that an event can take through a hook, and hints about them to the
// compiler. Names and macros only; any thread.
#ifndef OCULAR_TRACER_HOOK_PATH_H
#define OCULAR_TRACER_HOOK_PATH_H

// Inlined into the callbacks whatever its size: a call more would cost it its
// registers.
#define OCULAR_HOT static inline __attribute__((always_inline))
#define OCULAR_LIKELY(x) __builtin_expect(!!(x), 1)
#define OCULAR_UNLIKELY(x) __builtin_expect(!!(x), 0)

// Nearly all events take the fast path, a leaf function that keeps everything
// in registers. A callback first asks whether the event is ordinary
// (ThreadTrace_is_fast_...), before it changes anything. If not, it bails out
// to the slow path: a full stack, a threshold, another thread, a frame that
// left unseen... What the paths do is one source, inlined three times: into the
// fast path without a timeline, into the one with a timeline, and into the slow
// path, a function of its own.
enum HookPath { PATH_FAST, PATH_FAST_TIMELINE, PATH_SLOW };

// A condition for which the callback bails out: always false on a fast path.
#define OCULAR_SLOW(path, condition)                                           \
    ((path) == PATH_SLOW && OCULAR_UNLIKELY(condition))

#endif
