// SPDX-License-Identifier: MIT
// See arming.h.
#include "tracer/code/arming.h"

#define WARM_CALLS 8     // calls of a re-arm window that are not timed
#define LONG_CYCLES 50e3 // of a call: some 20 us

void Code_refresh(struct Code *code)
{
    bool clean = !Code_dark_callees(code);
    bool plain = clean && !code->warming && !code->dark && Code_histogram(code);

    code->plain_epoch = plain ? code->epoch : 0;
    code->block_epoch = clean && !code->broken ? code->epoch : 0;
}

void Code_darken_site(struct Code *code, struct Site *site)
{
    atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
    if (site->redundant)
        return;
    code->exact = false;
    code->broken = true;
    Code_refresh(code);
}

void Code_darken_instruction(struct Code *code, struct Instruction *instruction)
{
    atomic_store_explicit(&instruction->dark, 1, memory_order_relaxed);
    atomic_store_explicit(&instruction->floor, 1, memory_order_relaxed);
    code->exact = false;
    if (instruction->flags & INSTRUCTION_GATE) {
        code->broken = true;
        Code_refresh(code);
    }
}

void Code_leave_unarmed(struct Code *code)
{
    code->unarmed = code->dark = true;
    code->calls_exact = code->exact = false;
    for (uint32_t i = 0; i < code->site_count; i++)
        code->sites[i].dark = 1;
    for (uint32_t i = 0; i < code->instruction_count; i++)
        code->instructions[i].dark = 1;
    Code_refresh(code);
}

static void next_epoch(struct Code *code)
{
    // Not 0 either, which plain_epoch and block_epoch keep for "none".
    if (++code->epoch == EPOCH_NONE)
        code->epoch = 1;
    Code_refresh(code);
}

void Code_gain_dark_callee(struct Code *code)
{
    code->dark_callees++;
    if (Code_dark_callees(code) == 1)
        next_epoch(code);
}

void Code_lose_dark_callee(struct Code *code)
{
    if (Code_dark_callees(code) == 0)
        return;
    code->dark_callees--;
    if (Code_dark_callees(code) == 0)
        next_epoch(code);
}

// Hits at which what has had `seen` goes dark, if it is armed for `hits` more.
static uint64_t stop_after(uint64_t seen, uint64_t hits)
{
    return hits ? seen + hits : CODE_NEVER;
}

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void Code_extend(struct Code *code, uint64_t hits)
{
    uint64_t *stop = code->warming ? &code->stop_then : &code->stop_at;

    *stop = more(*stop, stop_after(Cell_get(&code->calls), hits));
}

// A call of it takes so long that what is cold at first is little of it. Seven
// more of them would use up its callees, too.
static bool is_long(const struct Code *code)
{
    return (double)Cell_cycles(&code->total_cycles) >
           LONG_CYCLES * (double)Cell_get(&code->calls);
}

void Code_rearm(struct Code *code, uint64_t hits)
{
    uint32_t i;
    bool cold = code->dark && hits >= 2 * WARM_CALLS && !is_long(code);

    code->stop_at = more(code->warming ? code->stop_then : code->stop_at,
                         stop_after(Cell_get(&code->calls), hits));
    if (cold || code->warming) {
        code->stop_then = code->stop_at;
        code->stop_at = Cell_get(&code->calls) + WARM_CALLS;
        code->dark_callees += !code->warming;
        code->warming = true;
    }
    code->dark = code->closed = code->unarmed = false;
    code->broken = false;
    for (i = 0; i < code->site_count; i++) {
        struct Site *site = &code->sites[i];

        atomic_store_explicit(&site->dark, 0, memory_order_relaxed);
        if (!site->redundant)
            site->stop_at =
                more(site->stop_at, stop_after(Cell_get(&site->hits), hits));
    }
    for (i = 0; i < code->instruction_count; i++) {
        struct Instruction *at = &code->instructions[i];

        atomic_store_explicit(&at->dark, 0, memory_order_relaxed);
        at->stop_at = more(at->stop_at, stop_after(Cell_get(&at->hits), hits));
    }
    next_epoch(code); // open frames have missed events
}

bool Code_warm(struct Code *code)
{
    if (!code->warming)
        return false;
    code->warming = false;
    code->dark_callees--;
    code->stop_at = code->stop_then;
    next_epoch(code);
    return true;
}

void Code_renew(struct Code *code, uint64_t hits, uint32_t window)
{
    uint64_t *stop = code->warming ? &code->stop_then : &code->stop_at;
    uint64_t stop_now = Cell_get(&code->calls) + hits;
    uint32_t i;

    if (code->dark || *stop == CODE_NEVER)
        return;
    if (code->window == window - 1 && *stop <= stop_now)
        return;
    *stop = stop_now;
    for (i = 0; i < code->site_count; i++) {
        struct Site *site = &code->sites[i];

        if (!site->redundant)
            site->stop_at = Cell_get(&site->hits) + hits;
    }
    for (i = 0; i < code->instruction_count; i++) {
        struct Instruction *at = &code->instructions[i];

        at->stop_at = Cell_get(&at->hits) + hits;
    }
}

void Code_want_callees(struct Code *code, uint32_t hits)
{
    atomic_store_explicit(&code->callee_hits, hits, memory_order_relaxed);
    // No caller's id: the next call takes the whole course.
    code->last_caller = UINT64_MAX;
}
