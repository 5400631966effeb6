// SPDX-License-Identifier: MIT
// The courses that an event can take through the hot path, and what the
// compiler is told of them. Names and macros only; any thread.
#ifndef OCULAR_TRACER_HOOK_COURSE_H
#define OCULAR_TRACER_HOOK_COURSE_H

// Inlined into the callbacks whatever its size: a call more would cost it its
// registers.
#define OCULAR_HOT static inline __attribute__((always_inline))
#define OCULAR_LIKELY(x) __builtin_expect(!!(x), 1)
#define OCULAR_UNLIKELY(x) __builtin_expect(!!(x), 0)

// Every event has a plain course, which is nearly always taken, and turns off
// it: a full stack, a threshold, another thread, a frame that left unseen...
// The plain course is a leaf that keeps everything in registers. So a callback
// first asks whether all is plain (ThreadTrace_plain_...), before anything is
// changed, and the code below is inlined in three courses: the two plain ones,
// without and with a timeline, and the whole, in a function of its own.
enum Course { COURSE_PLAIN, COURSE_PLAIN_TIMELINE, COURSE_WHOLE };

// A turn off the plain course.
#define OCULAR_TURN(course, condition)                                         \
    ((course) == COURSE_WHOLE && OCULAR_UNLIKELY(condition))

#endif
