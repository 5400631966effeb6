// SPDX-License-Identifier: MIT
// One accepted code object: lays out its sites from its bytecode and keeps
// what is learnt of it. Called with the interpreter's lock held, but for
// Code_free (the collector) and the readers' functions.
#include "tracer/code/code.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define RESUME_LOCATION 3    // the bits of RESUME's argument that say where
#define WARM_CALLS 8         // calls of a visit that are not timed
#define LONG_CYCLES 50e3     // of a call: some 20 us
#define CALLEES_MOST 64      // kept: those that were met last
#define SAMPLES_ENOUGH 20    // for a mean made of a share
#define CALLERS_UNBOUNDED 64 // callers kept of code that never goes dark

// The site kind of an opcode, or -1 where nothing fires.
static int site_kind(const struct Opcodes *opcodes, uint8_t opcode,
                     uint8_t oparg)
{
    unsigned flags = opcodes->flags[opcode];

    if (flags & OPCODE_RESUME)
        return oparg & RESUME_LOCATION ? SITE_RESUME : SITE_START;
    if (flags & OPCODE_RETURN)
        return SITE_RETURN;
    if (flags & OPCODE_YIELD)
        return SITE_YIELD;
    if (flags & OPCODE_JUMP)
        return SITE_JUMP;
    if (flags & OPCODE_BRANCH)
        return SITE_BRANCH;
    return -1;
}

struct Walk { // over a code object's instructions
    struct Code *code;
    size_t unit;
    size_t number;     // of the instruction
    size_t after_loop; // number of the first one after the last jump back
    bool far;          // its offset is beyond CPython's small integers
};

static enum HookKind hook_kind(const struct Code *code, int site_kind)
{
    switch (site_kind) {
    case SITE_START:
    case SITE_RESUME:
        return code->enter_hook;
    case SITE_RETURN:
        return Code_leave_hook(code);
    case SITE_YIELD:
        return HOOK_YIELD;
    case SITE_JUMP:
        return HOOK_JUMP;
    default:
        return HOOK_BRANCH;
    }
}

static void add_site(const struct Walk *walk, int kind, bool redundant,
                     uint64_t threshold)
{
    struct Site *site = &walk->code->sites[walk->code->site_count++];

    // What follows from other sites goes dark at its first hit.
    site->stop_at = redundant ? 1 : threshold ? threshold : CODE_NEVER;
    site->unit = (uint16_t)walk->unit;
    site->reach = (uint16_t)(walk->number - walk->after_loop + 1);
    site->kind = (uint8_t)kind;
    site->hook = (uint8_t)(hook_kind(walk->code, kind) + walk->far);
    site->redundant = redundant;
    walk->code->jump_count += kind >= SITE_JUMP && !redundant;
}

// One pass over the instructions; with code->sites still NULL it only counts.
static size_t lay_out(struct Code *code, const struct Opcodes *opcodes,
                      uint64_t threshold, bool two_arms)
{
    struct Walk walk = {.code = code};
    size_t count = 0;

    while (walk.unit < code->unit_count && walk.unit <= UINT16_MAX) {
        uint8_t opcode = code->bytecode[2 * walk.unit];
        unsigned flags = opcodes->flags[opcode];
        int kind =
            site_kind(opcodes, opcode, code->bytecode[2 * walk.unit + 1]);
        size_t end = walk.unit + Opcodes_length(opcodes, opcode);
        size_t arms = kind == SITE_BRANCH && two_arms ? 2 : 1;

        if (kind >= 0 && count + arms <= UINT16_MAX) {
            count += arms;
            walk.far = opcodes->far_unit && walk.unit >= opcodes->far_unit;
            if (code->sites) {
                code->units[walk.unit].site = (uint16_t)(code->site_count + 1);
                add_site(&walk, kind, flags & OPCODE_ITER, threshold);
                if (arms == 2)
                    add_site(&walk, SITE_BRANCH_RIGHT, flags & OPCODE_ITER,
                             threshold);
            }
        }
        for (; walk.unit < end && walk.unit < code->unit_count; walk.unit++)
            code->units[walk.unit].number = (uint16_t)walk.number;
        if (!(flags & OPCODE_EXTENDED))
            walk.number++;
        if (flags & OPCODE_LOOP)
            walk.after_loop = walk.number;
    }
    return count;
}

static void *copy(const void *data, size_t size)
{
    void *result = Heap_alloc(size ? size : 1);

    if (result && size)
        memcpy(result, data, size);
    return result;
}

struct Code *Code_new(uint32_t id, const struct CodeSource *source,
                      const struct Opcodes *opcodes, uint64_t threshold,
                      bool two_arms)
{
    struct Code *code = Heap_zeroed(1, sizeof *code);
    size_t count;

    if (!code)
        return NULL;
    code->id = id;
    code->stop_at = threshold ? threshold : CODE_NEVER;
    code->calls_exact = code->exact = true;
    code->epoch = code->block_epoch = 1;
    code->min_cycles = UINT64_MAX;
    code->specializable = UINT32_MAX;
    code->enter_hook = source->suspends ? HOOK_RESUME : HOOK_ENTER;
    code->address = source->address;
    code->line = source->line;
    code->version = source->version;
    code->unit_count = (uint32_t)(source->bytecode_size / 2);
    code->name = Heap_text(source->name);
    code->file = Heap_text(source->file);
    code->bytecode = copy(source->bytecode, source->bytecode_size);
    code->line_table = copy(source->line_table, source->line_table_size);
    code->line_table_size = source->line_table_size;
    code->units = Heap_zeroed(code->unit_count + 1u, sizeof *code->units);
    if (!code->name || !code->file || !code->bytecode || !code->line_table ||
        !code->units)
        goto fail;
    count = lay_out(code, opcodes, threshold, two_arms);
    code->sites = Heap_zeroed(count + 1, sizeof *code->sites);
    if (!code->sites)
        goto fail;
    lay_out(code, opcodes, threshold, two_arms);
    return code;
fail:
    Code_free(code);
    return NULL;
}

void Code_free(struct Code *code)
{
    if (!code)
        return;
    Heap_free(code->histogram);
    Heap_free(code->units);
    Heap_free(code->sites);
    Heap_free(code->instructions);
    Heap_free(code->name);
    Heap_free(code->file);
    Heap_free(code->bytecode);
    Heap_free(code->line_table);
    Story_release(&code->story);
    Heap_free(code->callers);
    Heap_free(code->share.callers);
    Heap_free((void *)code->share.spots);
    Heap_free(code->share.callees);
    Heap_free(code->callees);
    Heap_free(code);
}

size_t Code_bytes(const struct Code *code)
{
    size_t size = sizeof *code + strlen(code->name) + strlen(code->file) + 2;

    size += code->unit_count * (sizeof *code->units + 2);
    size += code->site_count * sizeof *code->sites + code->line_table_size;
    size += code->caller_room * sizeof *code->callers;
    size += code->callee_room * sizeof *code->callees;
    size += Story_bytes(&code->story);
    if (code->instructions)
        size += (code->instruction_count + 2) * sizeof *code->instructions;
    if (code->histogram)
        size += sizeof *code->histogram;
    return size;
}

void Code_count_sites(const struct Code *code, uint64_t *sites, uint64_t *dark)
{
    uint32_t i;

    *sites = *dark = 0;
    for (i = 0; i < code->site_count; i++) {
        const struct Site *site = &code->sites[i];

        if (site->redundant)
            continue;
        ++*sites;
        *dark += atomic_load_explicit(&site->dark, memory_order_relaxed);
    }
    for (i = 0; i < code->instruction_count; i++) {
        const struct Instruction *at = &code->instructions[i];

        if (!(at->flags & INSTRUCTION_FIRES))
            continue;
        ++*sites;
        *dark += atomic_load_explicit(&at->dark, memory_order_relaxed);
    }
}

bool Code_has_caller(const struct Code *code, uint32_t caller)
{
    uint32_t i;

    for (i = 0; i < code->caller_count; i++)
        if (code->callers[i] == caller)
            return true;
    return false;
}

int Code_add_caller(struct Code *code, uint32_t caller)
{
    if (Code_has_caller(code, caller))
        return 0;
    if (code->stop_at == CODE_NEVER && code->caller_count == CALLERS_UNBOUNDED)
        return 0;
    if (code->caller_count == code->caller_room) {
        uint32_t room = code->caller_room ? 2 * code->caller_room : 4;
        uint32_t *callers = Heap_resize(code->callers, room * sizeof *callers);

        if (!callers)
            return -ENOMEM;
        Cell_add(&code->grown_bytes,
                 (room - code->caller_room) * sizeof *callers);
        code->callers = callers;
        code->caller_room = room;
    }
    code->callers[code->caller_count++] = caller;
    return 1;
}

static void add_callee(struct Code *code, uint32_t callee)
{
    if (code->callee_count == code->callee_room) {
        uint32_t room = code->callee_room ? 2 * code->callee_room : 4;
        uint32_t *callees;

        if (room > CALLEES_MOST) { // the oldest may have gone
            code->callees[code->callee_next++ % CALLEES_MOST] = callee;
            return;
        }
        callees = Heap_resize(code->callees, room * sizeof *callees);
        if (!callees)
            return;
        Cell_add(&code->grown_bytes,
                 (room - code->callee_room) * sizeof *callees);
        code->callees = callees;
        code->callee_room = room;
    }
    code->callees[code->callee_count++] = callee;
}

int Code_link(struct Code *caller, struct Code *code)
{
    int news = Code_add_caller(code, caller->id);

    if (news != 1)
        return news;
    add_callee(caller, code->id);
    if (code->dark)
        Code_gain_dark_callee(caller);
    return news;
}

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

uint64_t Code_events(const struct Code *code)
{
    uint64_t events = Cell_get(&code->calls);
    uint32_t i;

    for (i = 0; i < code->site_count; i++)
        events += Cell_get(&code->sites[i].hits);
    for (i = 0; i < code->instruction_count; i++)
        events += Cell_get(&code->instructions[i].hits);
    return events;
}

double Code_sampled_cycles(const struct Code *code, uint64_t self_ns)
{
    double under = (double)Cell_get(&code->share.under.total_ns);
    uint64_t calls = Cell_get(&code->calls);
    double total = (double)Cell_cycles(&code->total_cycles) / (double)calls;

    if (!calls || !(total > 0) || !(under > 0) || // none may have come back
        Cell_get(&code->share.samples) < SAMPLES_ENOUGH)
        return NAN;
    return total * (double)self_ns / under;
}

uint64_t Code_sampled_ns(const struct Code *code)
{
    uint64_t wait = Cell_get(&code->share.wait.total_ns);
    uint64_t queued = Cell_get(&code->share.queued.total_ns);

    return Cell_get(&code->share.cpu.total_ns) +
           (wait > queued ? wait - queued : 0);
}

// The part of its waiting that is neither for the interpreter nor for a CPU.
static double own_wait(const struct Code *code)
{
    double wait = (double)Cell_get(&code->share.wait.total_ns);
    double queued = (double)Cell_get(&code->share.queued.total_ns);

    return wait > 0 ? fmax(1 - queued / wait, 0) : 1;
}

// What has been added since the mark; cycles net of what hooks cost may come
// out below zero.
static double since(const cell_t *now, const cell_t *then)
{
    return fmax((double)(int64_t)(Cell_get(now) - Cell_get(then)), 0);
}

double Code_self_mean(const struct Code *code)
{
    const struct RecentMark *from = Recent_mark(&code->recent);

    return since(&code->self_cycles, &from->cycles) /
           since(&code->self_calls, &from->calls);
}

void Code_note_recent(struct Code *code, uint64_t ticks, double hz)
{
    const struct RecentMark now = {Cell_get(&code->self_calls),
                                   Cell_get(&code->self_cycles),
                                   Cell_get(&code->waited_cycles)};

    Recent_note(&code->recent, &now, ticks, (uint64_t)(RECENT_S * hz));
}

void Code_age_histogram(struct Code *code)
{
    uint64_t calls = Cell_get(&Recent_mark(&code->recent)->calls);
    struct Histogram *histogram = Code_histogram(code);

    if (!histogram || calls == code->aged_calls)
        return;
    code->aged_calls = calls;
    Histogram_age(histogram);
}

double Code_mean_cycles(const struct Code *code)
{
    const struct RecentMark *from = Recent_mark(&code->recent);

    if (!Cell_get(&code->self_calls)) // always one of its callees was dark
        return Code_sampled_cycles(code, Code_sampled_ns(code));
    return Code_self_mean(code) + since(&code->waited_cycles, &from->waited) *
                                      own_wait(code) /
                                      since(&code->self_calls, &from->calls);
}

double Code_dark_calls(const struct Code *code, double hz)
{
    double mean = Code_mean_cycles(code) / hz * 1e9; // ns
    uint64_t now = Code_sampled_ns(code);
    uint64_t then =
        atomic_load_explicit(&code->dark_from_ns, memory_order_relaxed);

    return mean > 0 && now >= then ? (double)(now - then) / mean : NAN;
}
