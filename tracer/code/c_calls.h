// SPDX-License-Identifier: MIT
// Counts which C functions a function's call instructions call. Each C function
// has a struct Code as a stand-in (python/hooks/stand_in.h). If there is a
// budget, calls are counted only in windows. A window is a time in which the
// hooks of the function's call instructions stay installed. Calls of C
// functions and entries of the calling function are counted in the order of the
// hits. The number of C calls per entry is right however hot the function is.
//
// A pair is a call instruction and a C function that it calls. A thread that
// holds the GIL adds pairs, and says which pair of an instruction is the
// newest. The counts change only under the counting lock.
#pragma once

#include "tracer/code/registry.h"

// A window of counting may end after this number of calls of C functions. A
// window that opens in a slice lasts longer than one that opens because a
// function gets its hooks again. The numbers are small, because the function's
// calls are not timed during a window.
#define C_CALLS_SLICE 512
#define C_CALLS_AGAIN 128

// A hook of a call of a C function.
struct CPayment {
    const struct ThreadTrace *payer; // The record of its thread.
    // Ticks that hooks have taken in this thread, without and with this hook.
    uint64_t before, after;
    uint64_t ticks; // The time of the hook.
    // If the first hook in a window comes within these ticks, the thread was
    // only kept waiting by the thread that has opened the window.
    uint64_t held;
};

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

// Allocates a struct CCalls for a C function or for a function that calls one.
// Does nothing if memory is out. The caller holds the GIL.
void CCalls_prepare(struct Code *code);
// Notes that the instruction at `unit` calls the C function with this id, or a
// Python function if the id is 0. Returns false if the pair is new. Does
// nothing if memory is out. The caller holds the GIL.
bool CCalls_note(struct Code *code, uint32_t unit, uint32_t id);
// Returns the C function that has raised an exception in the instruction at
// `unit`, or NULL. If no window is open and the instruction calls several C
// functions, CCalls_raiser returns the one that has raised most exceptions.
struct CPair *CCalls_raiser(const struct Code *code, uint32_t unit);
// Returns true if an instruction that calls a Python function now may call a C
// function before the window ends. The caller holds the GIL.
bool CCalls_expects(const struct Code *code, uint32_t unit);
// Returns the C function that the instruction at `unit` called last. Returns
// NULL if the last call was that of a Python function or is unknown.
struct CPair *CCalls_newest(const struct Code *code, uint32_t unit);
// Returns the id of the C function to which a sample at the instruction
// belongs, or 0. If the instruction calls several C functions, its samples are
// divided in proportion to their calls and cycles. Only the sampler calls
// CCalls_choose.
uint32_t CCalls_choose(struct Code *code, uint16_t number,
                       struct Registry *registry);
// Opens a window, which may end after `most` calls of C functions. The callers
// of CCalls_open, CCalls_count and CCalls_close hold the counting lock.
void CCalls_open(struct Code *code, uint64_t ticks, uint32_t most);
// Counts a call at `unit`, at the time `ticks`. If `exact` is true, all calls
// are counted, not only those in windows. Returns false if no window is open
// and calls are not exact.
bool CCalls_count(struct Code *code, uint32_t unit, uint32_t id, bool exact,
                  uint64_t ticks);
// Subtracts the time of hooks from the length of the open window. The caller
// holds the counting lock.
void CCalls_pay(struct Code *code, const struct CPayment *payment);
// Closes the open window. `entries` is the function's number of entries at the
// end of the window.
void CCalls_close(struct Code *code, uint64_t entries, uint64_t ticks);
