// SPDX-License-Identifier: MIT
// A hit: one firing of a hook, as the hook writes it down. 24 bytes; whoever
// counts knows the rest.
#ifndef OCULAR_TRACER_HOOK_HIT_H
#define OCULAR_TRACER_HOOK_HIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum HitKind {
    HIT_ENTER,
    HIT_RESUME, // a call goes on after a yield or an await
    HIT_THROW,  // the same, by an exception
    HIT_LEAVE,  // a return or a yield
    HIT_RAISE,  // an exception leaves the call
    HIT_JUMP,
    HIT_BRANCH, // from 3.14 on its left arm
    HIT_RIGHT,  // its right arm
    HIT_STEP,   // an instruction is about to run, in precise mode
    HIT_THREAD, // no hook: the hits from here on are this thread record's
    HIT_PAID,   // no hook: ticks, in the address's place, that ours took; in
                // `where` those of them in which it only waited
    HIT_TAKEN,  // no hook: ticks in which other programs had the CPU before
                // the next hit
    HIT_KINDS
};

#define HIT_KIND_BITS 4
#define HIT_UNIT_BITS 22  // code units; a larger code object's go uncounted
#define HIT_DEPTH_BITS 20 // of recursion

struct Hit {
    uint64_t ticks;
    uint64_t who;   // address << HIT_KIND_BITS | kind
    uint64_t where; // the rest: Hit_where
};

// An address has at most 57 bits.
static inline uint64_t Hit_who(uintptr_t address, enum HitKind kind)
{
    return (uint64_t)address << HIT_KIND_BITS | kind;
}

static inline uint64_t Hit_where(uint32_t depth, size_t unit, size_t to)
{
    return (uint64_t)depth << 2 * HIT_UNIT_BITS |
           (uint64_t)unit << HIT_UNIT_BITS | to;
}

// Part of a code object's address, never 0: enough to tell a function from that
// which was thought to be its caller.
static inline size_t Hit_caller(uintptr_t address)
{
    return (address >> 4 & ((1u << HIT_UNIT_BITS) - 1)) | 1;
}

// false: Hit_where has no room for these.
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

// For a jump or a branch: the code unit that it goes to. For an enter: its
// caller's code object (Hit_caller), 0: not known.
static inline size_t Hit_to(const struct Hit *hit)
{
    return hit->where & ((1u << HIT_UNIT_BITS) - 1);
}

#endif
