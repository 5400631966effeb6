// SPDX-License-Identifier: MIT
// A hit is one call of a hook. The hook writes the hit as 24 bytes, from which
// the counting thread later computes all counts and times.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum HitKind {
    HIT_ENTER,
    HIT_RESUME, // A call continues after a yield or an await.
    HIT_THROW,  // A call continues because an exception was thrown into it.
    HIT_LEAVE,  // A call returns or yields.
    HIT_RAISE,  // An exception leaves a call.
    HIT_JUMP,
    HIT_BRANCH, // A branch (from 3.14 on only the left arm of a branch).
    HIT_RIGHT,  // The right arm of a branch (from 3.14 on).
    HIT_STEP,   // An instruction is about to run (precise mode).
    // A line is about to run. The code unit of the hit is the line's number.
    HIT_LINE,
    // C code begins or ends. C code is the garbage collector, or a C function.
    // For a C function, `who` is the caller, and the target is the function's
    // id.
    HIT_C_BEGIN,
    HIT_C_END,
    // No event. The hits after this one belong to the thread record in `who`.
    HIT_THREAD,
    // No event. `who` does not contain an address, but the number of ticks that
    // Ocular's own code took. `where` contains the number of those ticks in
    // which Ocular's code only waited.
    HIT_PAID,
    // No event. The kernel was asked about the interval before the next hit.
    // `who` does not contain an address, but the number of ticks in which other
    // programs had the CPU. `where` contains the number of ticks in which the
    // thread ran.
    HIT_TAKEN,
    HIT_KINDS
};

#define HIT_KIND_BITS 4
// Number of bits for a code unit. Hits are not counted if their code unit needs
// more bits.
#define HIT_UNIT_BITS 22
#define HIT_DEPTH_BITS 20 // Number of bits for the recursion depth.

struct Hit {
    uint64_t ticks;
    uint64_t who;   // Address << HIT_KIND_BITS | kind.
    uint64_t where; // Depth, code unit and target, packed by Hit_where.
};

_Static_assert(sizeof(struct Hit) == 24, "a hook writes few bytes");

// Returns the value of the field `who` of a hit. The four bits of the kind fit
// into `who`, because an address has at most 57 bits.
static inline uint64_t Hit_who(uintptr_t address, enum HitKind kind)
{
    return (uint64_t)address << HIT_KIND_BITS | kind;
}

static inline uint64_t Hit_where(uint32_t depth, size_t unit, size_t to)
{
    return (uint64_t)depth << 2 * HIT_UNIT_BITS |
           (uint64_t)unit << HIT_UNIT_BITS | to;
}

// Returns the lower bits of a code object's address, as a number that is never
// 0. ThreadTrace_settle compares results of Hit_caller to check whether the
// function on top of the shadow stack is the real caller.
static inline size_t Hit_caller(uintptr_t address)
{
    return (address >> 4 & ((1u << HIT_UNIT_BITS) - 1)) | 1;
}

// Returns a hash of the address of a frame, which is never 0. The hash
// distinguishes the suspended calls of one function (latency.h).
static inline size_t Hit_frame(uintptr_t address)
{
    uint64_t hash = (uint64_t)(address >> 4) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(hash >> (64 - HIT_UNIT_BITS)) | !hash;
}

// Returns false if `depth`, `unit` or `to` is too large for Hit_where.
static inline bool Hit_fits(uint32_t depth, size_t unit, size_t to)
{
    return !((unit | to) >> HIT_UNIT_BITS | depth >> HIT_DEPTH_BITS);
}

static inline uintptr_t Hit_address(const struct Hit *hit)
{
    return (uintptr_t)(hit->who >> HIT_KIND_BITS);
}

static inline enum HitKind Hit_kind(const struct Hit *hit)
{
    return (enum HitKind)(hit->who & ((1u << HIT_KIND_BITS) - 1));
}

static inline uint32_t Hit_depth(const struct Hit *hit)
{
    return (uint32_t)(hit->where >> 2 * HIT_UNIT_BITS);
}

static inline size_t Hit_unit(const struct Hit *hit)
{
    return (hit->where >> HIT_UNIT_BITS) & ((1u << HIT_UNIT_BITS) - 1);
}

// For a jump or a branch, returns the target's code unit. For a C function,
// returns the function's id. For a line, returns 1 if CPython makes an integer
// object of the line's number, else 0. If the hit begins a call or a garbage
// collection, returns the bits of the caller's code object (Hit_caller), or 0
// if the caller is unknown. If the hit ends a call, returns the hash of the
// call's frame (Hit_frame).
static inline size_t Hit_to(const struct Hit *hit)
{
    return hit->where & ((1u << HIT_UNIT_BITS) - 1);
}
