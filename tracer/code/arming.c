// SPDX-License-Identifier: MIT
// See arming.h.
#include "tracer/code/arming.h"

#define WARM_CALLS 8     // calls of a re-arm window that are not timed
#define PORTION 64       // hits of a second that are given at a time
#define LONG_CYCLES 50e3 // of a call: some 20 us

void Code_refresh(struct Code *code)
{
    bool clean = !Code_dark_callees(code);
    bool fast =
        clean && !code->hot.warming && !code->hot.dark && Code_histogram(code);

    code->hot.fast_epoch = fast ? code->hot.epoch : 0;
    code->hot.block_epoch = clean && !code->hot.broken ? code->hot.epoch : 0;
}

void Code_darken_site(struct Code *code, struct Site *site)
{
    atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
    CodeCold_note_change(&code->cold);
    if (site->redundant)
        return;
    code->hot.exact = false;
    code->hot.broken = true;
    Code_refresh(code);
}

void Code_darken_instruction(struct Code *code, struct Instruction *instruction)
{
    atomic_store_explicit(&instruction->dark, 1, memory_order_relaxed);
    CodeCold_note_change(&code->cold);
    atomic_store_explicit(&instruction->floor, 1, memory_order_relaxed);
    code->hot.exact = false;
    if (instruction->flags & INSTRUCTION_GATE) {
        code->hot.broken = true;
        Code_refresh(code);
    }
}

void Code_leave_unarmed(struct Code *code)
{
    code->cold.unarmed = true;
    code->hot.dark = true;
    code->hot.calls_exact = code->hot.exact = false;
    for (uint32_t i = 0; i < code->layout.site_count; i++)
        code->layout.sites[i].dark = 1;
    for (uint32_t i = 0; i < code->layout.instruction_count; i++)
        code->layout.instructions[i].dark = 1;
    CodeCold_note_change(&code->cold);
    Code_refresh(code);
}

static void next_epoch(struct Code *code)
{
    // Not 0 either, which fast_epoch and block_epoch keep for "none".
    if (++code->hot.epoch == EPOCH_NONE)
        code->hot.epoch = 1;
    Code_refresh(code);
}

void Code_gain_dark_callee(struct Code *code)
{
    code->hot.dark_callees++;
    if (Code_dark_callees(code) == 1)
        next_epoch(code);
}

void Code_lose_dark_callee(struct Code *code)
{
    if (Code_dark_callees(code) == 0)
        return;
    code->hot.dark_callees--;
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

static uint64_t *calls_stop(struct Code *code)
{
    return code->hot.warming ? &code->hot.stop_then : &code->hot.stop_at;
}

void Code_extend(struct Code *code, uint64_t hits)
{
    uint64_t *stop = calls_stop(code);

    *stop = more(*stop, stop_after(Counter_get(&code->hot.calls), hits));
}

// A call of it takes so long that what is cold at first is little of it. Seven
// more of them would use up its callees, too.
static bool is_long(const struct Code *code)
{
    return (double)Counter_cycles(&code->hot.total_cycles) >
           LONG_CYCLES * (double)Counter_get(&code->hot.calls);
}

void Code_rearm(struct Code *code, uint64_t hits)
{
    uint32_t i;
    bool cold = code->hot.dark && hits >= 2 * WARM_CALLS && !is_long(code);

    code->hot.stop_at = more(*calls_stop(code),
                             stop_after(Counter_get(&code->hot.calls), hits));
    if (cold || code->hot.warming) {
        code->hot.stop_then = code->hot.stop_at;
        code->hot.stop_at = Counter_get(&code->hot.calls) + WARM_CALLS;
        code->hot.dark_callees += !code->hot.warming;
        code->hot.warming = true;
    }
    if (code->hot.dark)
        code->cold.portions = 0;
    code->hot.dark = code->hot.closed = code->cold.unarmed = false;
    code->hot.broken = false;
    for (i = 0; i < code->layout.site_count; i++) {
        struct Site *site = &code->layout.sites[i];

        if (site->dark)
            site->portions = 0;
        atomic_store_explicit(&site->dark, 0, memory_order_relaxed);
        if (!site->redundant)
            site->stop_at =
                more(site->stop_at, stop_after(Counter_get(&site->hits), hits));
    }
    for (i = 0; i < code->layout.instruction_count; i++) {
        struct Instruction *at = &code->layout.instructions[i];

        atomic_store_explicit(&at->dark, 0, memory_order_relaxed);
        at->stop_at =
            more(at->stop_at, stop_after(Counter_get(&at->hits), hits));
    }
    CodeCold_note_change(&code->cold);
    next_epoch(code); // open frames have missed events
}

bool Code_warm(struct Code *code)
{
    if (!code->hot.warming)
        return false;
    code->hot.warming = false;
    code->hot.dark_callees--;
    code->hot.stop_at = code->hot.stop_then;
    next_epoch(code);
    return true;
}

// `count` is how often it was hit.
static void give(uint64_t *stop, uint16_t *portions, uint64_t count,
                 uint64_t hits)
{
    uint64_t later = (hits - 1) / PORTION;

    *stop = count + (hits < PORTION ? hits : PORTION);
    *portions = later < UINT16_MAX ? (uint16_t)later : UINT16_MAX;
}

void Code_give(struct Code *code, uint64_t hits, uint64_t ticks)
{
    uint32_t i;

    if (*calls_stop(code) == CODE_NEVER)
        return;
    code->cold.renewed = ticks;
    give(calls_stop(code), &code->cold.portions, Counter_get(&code->hot.calls),
         hits);
    for (i = 0; i < code->layout.site_count; i++) {
        struct Site *site = &code->layout.sites[i];

        if (!site->redundant)
            give(&site->stop_at, &site->portions, Counter_get(&site->hits),
                 hits);
    }
}

bool Code_renew(struct Code *code, uint64_t *stop, uint16_t *portions,
                const struct Second *second, uint64_t ticks)
{
    if (code->hot.dark || !second->hits)
        return false;
    if (ticks - code->cold.renewed >= second->ticks) {
        Code_give(code, second->hits, ticks);
        return true;
    }
    if (*portions > second->hits / PORTION)
        *portions = (uint16_t)(second->hits / PORTION);
    if (!*portions)
        return false;
    --*portions;
    *stop += PORTION;
    return true;
}

void Code_want_callees(struct Code *code, uint32_t hits)
{
    atomic_store_explicit(&code->cold.callee_hits, hits, memory_order_relaxed);
    // No caller's id: the next call takes the slow path.
    code->hot.last_caller = UINT64_MAX;
}
