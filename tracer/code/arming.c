// SPDX-License-Identifier: MIT
#include "tracer/code/arming.h"

void Code_refresh(struct Code *code)
{
    bool clean = !Code_dark_callees(code) && !code->cold.between;

    code->hot.block_epoch = clean && !code->hot.broken ? code->hot.epoch : 0;
}

void Code_darken_site(struct Code *code, struct Site *site)
{
    atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
    Code_note_change(code);
    if (site->redundant)
        return;
    code->hot.exact = false;
    code->hot.broken = true;
    Code_refresh(code);
}

void Code_darken_instruction(struct Code *code, struct Instruction *instruction)
{
    atomic_store_explicit(&instruction->dark, 1, memory_order_relaxed);
    Code_note_change(code);
    atomic_store_explicit(&instruction->floor, 1, memory_order_relaxed);
    code->hot.exact = false;
    if (instruction->flags & INSTRUCTION_GATE) {
        code->hot.broken = true;
        Code_refresh(code);
    }
}

void Code_leave_unarmed(struct Code *code)
{
    code->cold.unarmed = code->cold.reported = true;
    code->hot.dark = true;
    code->hot.calls_exact = code->hot.exact = false;
    for (uint32_t i = 0; i < code->layout.site_count; i++)
        code->layout.sites[i].dark = 1;
    for (uint32_t i = 0; i < code->layout.instruction_count; i++)
        code->layout.instructions[i].dark = 1;
    Code_note_change(code);
    Code_refresh(code);
}

static void next_epoch(struct Code *code)
{
    // 0 is not used as an epoch, because 0 in `block_epoch` means "none".
    if (++code->hot.epoch == EPOCH_NONE)
        code->hot.epoch = 1;
    Code_refresh(code);
}

void Code_gain_dark_callee(struct Code *code)
{
    code->hot.dark_callees++;
    Code_touch(code);
    if (Code_dark_callees(code) == 1)
        next_epoch(code);
}

void Code_lose_dark_callee(struct Code *code)
{
    if (Code_dark_callees(code) == 0)
        return;
    code->hot.dark_callees--;
    Code_touch(code);
    if (Code_dark_callees(code) == 0)
        next_epoch(code);
}

// Returns the value of `stop_at` for a site that has had `seen` hits and may
// have `hits` more hits. If `hits` is 0, the site never loses its hook.
static uint64_t stop_after(uint64_t seen, uint64_t hits)
{
    return hits ? seen + hits : CODE_NEVER;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

// Installs or removes the hooks of the code's jumps and branches, without which
// the ends of blocks of instructions are not seen.
static void set_jumps(struct Code *code, bool jumps)
{
    code->cold.jumps = jumps;
    code->hot.broken = code->layout.jumps && (!jumps || code->layout.straight);
    if (code->hot.broken)
        code->hot.exact = false;
    Code_refresh(code);
}

void Code_arm_lines(struct Code *code, uint64_t hits)
{
    struct LineHits *lines = Code_lines(code);

    if (!code->who.lines)
        return;
    if (!lines) {
        // If the code's other hooks were installed before, hits of lines are
        // missing.
        lines = LineHits_new(Code_line_range(code), code->cold.site_changes);
        if (!lines)
            return;
        // The release pairs with the acquire in Code_lines.
        atomic_store_explicit(&code->layout.lines, lines, memory_order_release);
        code->hot.lined = true;
    }
    LineHits_arm(lines, hits);
}

void Code_arm(struct Code *code, uint64_t hits, bool jumps)
{
    uint32_t i;

    code->hot.stop_at = later(
        code->hot.stop_at, stop_after(Counter_get(&code->hot.entries), hits));
    code->hot.dark = code->hot.closed = code->cold.unarmed = false;
    code->hot.watched = false;
    set_jumps(code, jumps);
    for (i = 0; i < code->layout.site_count; i++) {
        struct Site *site = &code->layout.sites[i];
        bool unhooked = site->kind >= SITE_JUMP && !jumps;

        atomic_store_explicit(&site->dark, unhooked, memory_order_relaxed);
        if (!site->redundant)
            site->stop_at = later(site->stop_at,
                                  stop_after(Counter_get(&site->hits), hits));
    }
    for (i = 0; i < code->layout.instruction_count; i++) {
        struct Instruction *at = &code->layout.instructions[i];

        atomic_store_explicit(&at->dark, 0, memory_order_relaxed);
        at->stop_at =
            later(at->stop_at, stop_after(Counter_get(&at->hits), hits));
    }
    if (jumps)
        Code_arm_lines(code, hits);
    else if (code->hot.lined)
        LineHits_disarm(Code_lines(code));
    Code_note_change(code);
}

void Code_rearm(struct Code *code, uint64_t hits, bool jumps, uint64_t ticks)
{
    Code_arm(code, hits, jumps);
    code->cold.renewed = ticks;
    // The first call after the hooks were installed finds cold caches, so this
    // call is not timed. The first call with hooks also determines the caller
    // again.
    code->hot.untimed = true;
    code->hot.last_caller = UINT64_MAX;
    // From now on the cycles of calls that already run are wrong.
    next_epoch(code);
}

static void set_stop(uint64_t *stop, uint64_t seen, uint64_t hits)
{
    if (*stop != CODE_NEVER)
        *stop = stop_after(seen, hits);
}

void Code_extend(struct Code *code, uint64_t hits, uint64_t ticks)
{
    uint32_t i;

    code->cold.renewed = ticks;
    set_stop(&code->hot.stop_at, Counter_get(&code->hot.entries), hits);
    for (i = 0; i < code->layout.site_count; i++) {
        struct Site *site = &code->layout.sites[i];

        if (!site->redundant && !site->dark)
            set_stop(&site->stop_at, Counter_get(&site->hits), hits);
    }
    if (code->hot.lined)
        LineHits_extend(Code_lines(code), hits);
}

bool Code_renew(struct Code *code, const struct Second *second, uint64_t ticks)
{
    if (code->hot.dark || code->spans.ended || !second->hits ||
        // If Ocular found the code during this call, `ticks` can be slightly
        // less than `renewed`.
        ticks - code->cold.renewed + second->ticks < 2 * second->ticks)
        return false;
    Code_extend(code, second->hits, ticks);
    return true;
}

void Code_set_between(struct Code *code, bool between)
{
    between = between && code->links.callee_count;
    if (code->cold.between == between)
        return;
    code->cold.between = between;
    next_epoch(code);
}

void Code_end_slice(struct Code *code)
{
    uint32_t i;

    if (code->hot.stop_at == CODE_NEVER)
        return;
    // The code's callees can lose their hooks before the code does.
    next_epoch(code);
    code->spans.ended = true;
    code->hot.stop_at = 0;
    for (i = 0; code->cold.jumps && i < code->layout.site_count; i++)
        code->layout.sites[i].stop_at = 0;
    if (code->hot.lined)
        LineHits_extend(Code_lines(code), 0);
}
