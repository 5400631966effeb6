// SPDX-License-Identifier: MIT
// A hit is one call of a hook. The hook writes the hit as 24 bytes, from which
// the counting thread later computes all numbers.
#ifndef OCULAR_TRACER_HOOK_HIT_H
#define OCULAR_TRACER_HOOK_HIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum HitKind {
    HIT_ENTER,
    HIT_RESUME, // a call continues after a yield or an await
    HIT_THROW,  // a call continues with an exception
    HIT_LEAVE,  // a return or a yield
    HIT_RAISE,  // an exception leaves the call
    HIT_JUMP,
    HIT_BRANCH,      // a branch; from 3.14 on only the left arm
    HIT_RIGHT,       // a branch's right arm
    HIT_STEP,        // an instruction is about to run, in precise mode
    HIT_GARBAGE,     // a garbage collection begins
    HIT_GARBAGE_END, // a garbage collection has ended
    HIT_THREAD,      // no event; the next hits belong to this thread record
    // No event. Instead of an address `who` has the number of ticks that our
    // own code took. `where` has the number of those ticks in which our code
    // only waited.
    HIT_PAID,
    // No event. Instead of an address `who` has the number of ticks in which
    // other programs had the CPU before the next hit.
    HIT_TAKEN,
    HIT_KINDS
};

#define HIT_KIND_BITS 4
#define HIT_UNIT_BITS 22  // bits of a code unit; larger units are not counted
#define HIT_DEPTH_BITS 20 // bits of the recursion depth

struct Hit {
    uint64_t ticks;
    uint64_t who;   // address << HIT_KIND_BITS | kind
    uint64_t where; // depth, unit and target, as Hit_where packs them
};

_Static_assert(sizeof(struct Hit) == 24, "a hook writes few bytes");

// Returns the value of the field `who`. The kind's four bits fit into the
// field, because an address has at most 57 bits.
static inline uint64_t Hit_who(uintptr_t address, enum HitKind kind)
{
    return (uint64_t)address << HIT_KIND_BITS | kind;
}

static inline uint64_t Hit_where(uint32_t depth, size_t unit, size_t to)
{
    return (uint64_t)depth << 2 * HIT_UNIT_BITS |
           (uint64_t)unit << HIT_UNIT_BITS | to;
}

// Returns some bits of a code object's address, as a number that is never 0. By
// comparing this number ThreadTrace_settle checks whether the function on top
// of the shadow stack is the real caller.
static inline size_t Hit_caller(uintptr_t address)
{
    return (address >> 4 & ((1u << HIT_UNIT_BITS) - 1)) | 1;
}

// Returns a hash of a frame's address, which is never 0. The hash tells the
// suspended calls of a function apart (latency.h).
static inline size_t Hit_frame(uintptr_t address)
{
    uint64_t hash = (uint64_t)(address >> 4) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(hash >> (64 - HIT_UNIT_BITS)) | !hash;
}

// Returns false if one of these numbers is too large for Hit_where.
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

// Returns the target unit of a jump or a branch. If the hit begins a call or a
// garbage collection, returns the caller's code object (Hit_caller), or 0 if
// the caller is unknown. If the hit ends a call, returns the call's frame
// (Hit_frame).
static inline size_t Hit_to(const struct Hit *hit)
{
    return hit->where & ((1u << HIT_UNIT_BITS) - 1);
}

#endif
