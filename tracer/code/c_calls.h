// SPDX-License-Identifier: MIT
// Counts which C functions a function's call instructions call. A C function is
// a stand-in (python/hooks/stand_in.h). If there is a budget, calls are counted
// only in windows: times in which the hooks of the function's call instructions
// stay installed. A window is counted in the order of the hits. So the calls in
// a window, divided by the function's own entries in it, are the C calls of one
// entry, however hot the function is.
//
// A thread that holds the GIL adds pairs, and says which pair is the newest of
// its instruction. A holder of the counting lock counts.
#pragma once

#include "tracer/code/registry.h"

// Calls of C functions after which a window may end that opens in a slice, and
// one that opens because a function is armed again. Few of the function's calls
// then lack a time.
#define C_CALLS_SLICE 512
#define C_CALLS_AGAIN 128

// Returns the counts of a function, or NULL if it has called no C function.
static inline struct CCalls *CCalls_of(const struct Code *code)
{
    // The acquire pairs with the release in CCalls_note.
    return atomic_load_explicit(&code->links.c_calls, memory_order_acquire);
}

static inline bool CCalls_is_open(const struct Code *code)
{
    const struct CCalls *calls = CCalls_of(code);

    return calls &&
           atomic_load_explicit(&calls->window, memory_order_relaxed) != C_SHUT;
}

// Makes room for the sums of a C function or of a function that calls one. Does
// nothing if memory is out. The caller holds the GIL.
void CCalls_prepare(struct Code *code);
// Notes that the instruction at `unit` calls the C function with this id, or a
// Python function if the id is 0. Returns false if this is new. Does nothing if
// memory is out. The caller holds the GIL.
bool CCalls_note(struct Code *code, uint32_t unit, uint32_t id);
// Returns the C function that has raised an exception in the instruction at
// `unit`, or NULL. If no window is open and the instruction calls several C
// functions, this is the one that has raised the most.
struct CPair *CCalls_raiser(const struct Code *code, uint32_t unit);
// Returns true if the instruction at `unit`, which calls a Python function now,
// may call a C function before the window ends. The caller holds the GIL.
bool CCalls_expects(const struct Code *code, uint32_t unit);
// Returns the C function that the instruction at `unit` called last, or NULL if
// it called a Python function or is unknown.
struct CPair *CCalls_newest(const struct Code *code, uint32_t unit);
// Returns the id of the C function to which a sample at the instruction
// belongs, or 0. An instruction that calls several C functions divides its
// samples by their calls and cycles. Only the sampler calls CCalls_choose.
uint32_t CCalls_choose(struct Code *code, uint16_t number,
                       struct Registry *registry);
// Opens a window, which may end after `most` calls of C functions. The callers
// of CCalls_open, CCalls_count and CCalls_close hold the counting lock.
void CCalls_open(struct Code *code, uint64_t ticks, uint32_t most);
// Counts a call at `unit`, at the time `ticks`. If `exact` is true, all calls
// are counted and there are no windows. Returns false if no window is open any
// more.
bool CCalls_count(struct Code *code, uint32_t unit, uint32_t id, bool exact,
                  uint64_t ticks);
// Leaves `ticks` out of the length of the open window, because hooks of its
// calls took this time. The caller holds the counting lock.
void CCalls_pay(struct Code *code, uint64_t ticks);
// Closes the open window, in which the function was entered until its number of
// entries was `entries`.
void CCalls_close(struct Code *code, uint64_t entries, uint64_t ticks);
