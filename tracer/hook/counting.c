// SPDX-License-Identifier: MIT
#include "tracer/hook/counting.h"
#include "tracer/base/clock.h"
#include "tracer/code/registry.h"
#include "tracer/hook/thread_trace_block.h"
#include "tracer/hook/thread_trace_call.h"
#include "tracer/hook/thread_trace_garbage.h"

#include <sched.h>
#include <string.h>
#include <time.h>

// Largest number of seconds that counting one hit takes.
#define MOST_S 200e-9
// Number of calls of sched_yield() before the first sleep.
#define YIELDS 32
#define NAP_NS 50000
// Number of hits between two requests for a thread's name.
#define NAME_HITS 1
// Number of hits that are counted before `tail` is stored again.
#define AT_A_TIME 256

void Counting_init(struct Counting *counting, struct Registry *registry,
                   struct Contention *contention, sem_t *half_full)
{
    HitRing_init(&counting->ring, half_full);
    pthread_mutex_init(&counting->mutex, NULL);
    counting->registry = registry;
    counting->contention = contention;
    counting->trace = NULL;
    counting->between = false;
    atomic_init(&counting->counted, 0);
    atomic_init(&counting->ticks, 0);
    atomic_init(&counting->alone, 0);
    memset(counting->seen, 0, sizeof counting->seen);
}

_Static_assert(COUNTING_SEEN == 1u << (64 - 52), "of the hash's highest bits");

static struct Seen *seen_at(struct Counting *counting, uintptr_t address)
{
    uint64_t hash = (uint64_t)(address >> 4) * UINT64_C(0x9e3779b97f4a7c15);

    return &counting->seen[hash >> 52];
}

static struct Code *find(struct Counting *counting, uintptr_t address)
{
    struct Seen *seen = seen_at(counting, address);

    if (__builtin_expect(seen->address != address, 0)) {
        struct Code *code = Registry_find_living(counting->registry, address);

        // The code object is not traced, or another object has its address now.
        if (!code)
            return NULL;
        seen->address = address;
        seen->code = code;
    }
    return seen->code;
}

// --- Counting of one hit ---

static struct Site *site_at(const struct Code *code, size_t unit)
{
    unsigned index = code->layout.units[unit].site;

    return index ? &code->layout.sites[index - 1] : NULL;
}

static bool is_dark(const struct Site *site)
{
    return atomic_load_explicit(&site->dark, memory_order_relaxed);
}

static void mark_dark(struct Code *code, struct Site *site)
{
    if (!site)
        return;
    atomic_store_explicit(&site->dark, 1, memory_order_relaxed);
    Code_note_change(code);
}

static bool enter(struct ThreadTrace *trace, struct Code *code,
                  const struct Hit *hit, uint32_t depth, bool resumed)
{
    size_t unit = Hit_unit(hit);
    struct Site *site = site_at(code, unit);

    ThreadTrace_settle(trace, depth, Hit_to(hit), hit->ticks);
    if (site && is_dark(site)) {
        ThreadTrace_advance(trace, hit->ticks, code->hot.enter_hook);
        return true;
    }
    trace->begins = resumed ? EVENT_RESUME : EVENT_ENTER;
    Counter_add(&code->hot.resumed, resumed);
    if (!ThreadTrace_enter(trace, code, depth, code->layout.units[unit].number,
                           hit->ticks))
        return false;
    mark_dark(code, site);
    return true;
}

// Counts the throw of an exception into a generator, which has no site in the
// bytecode. If the generator has no hooks (is dark), the throw is not counted.
static bool throw_into(struct ThreadTrace *trace, struct Code *code,
                       const struct Hit *hit, uint32_t depth)
{
    if (code->hot.dark) {
        ThreadTrace_advance(trace, hit->ticks, HOOK_RESUME);
        return true;
    }
    trace->begins = EVENT_RESUME;
    Counter_add(&code->hot.resumed, 1);
    return ThreadTrace_enter(trace, code, depth,
                             code->layout.units[Hit_unit(hit)].number,
                             hit->ticks);
}

static bool leave(struct ThreadTrace *trace, struct Code *code,
                  const struct Hit *hit, uint32_t depth)
{
    struct Site *site = site_at(code, Hit_unit(hit));

    if (site && is_dark(site)) {
        ThreadTrace_advance(trace, hit->ticks, site->hook);
        return true;
    }
    return ThreadTrace_leave(trace, code, site, depth, hit->ticks) && site;
}

static bool jump(struct ThreadTrace *trace, struct Code *code,
                 const struct Hit *hit, uint32_t depth)
{
    struct Site *site = site_at(code, Hit_unit(hit));
    size_t to = Hit_to(hit);

    if (!site || to >= code->layout.unit_count)
        return true;
    if (Hit_kind(hit) == HIT_RIGHT &&
        (++site == code->layout.sites + code->layout.site_count ||
         site->kind != SITE_BRANCH_RIGHT))
        return true;
    if (is_dark(site)) {
        ThreadTrace_advance(trace, hit->ticks, site->hook);
        return true;
    }
    return ThreadTrace_jump(trace, code, site, code->layout.units[to].number,
                            depth, hit->ticks);
}

// Returns the instruction whose opcode is in the code unit `unit`. Returns NULL
// outside precise mode, for an EXTENDED_ARG, and for a code unit whose number
// is too high for a site. An EXTENDED_ARG is a part of the instruction that
// follows it.
static const struct Instruction *instruction_at(const struct Code *code,
                                                size_t unit)
{
    const struct Instruction *at = code->layout.instructions;

    if (at)
        at += code->layout.units[unit].number;
    return at && at->unit == unit ? at : NULL;
}

static bool step(struct ThreadTrace *trace, struct Code *code,
                 const struct Hit *hit, uint32_t depth)
{
    const struct Instruction *at = instruction_at(code, Hit_unit(hit));

    if (!at || atomic_load_explicit(&at->dark, memory_order_relaxed)) {
        ThreadTrace_advance(trace, hit->ticks,
                            at ? at->hook : HOOK_INSTRUCTION);
        ThreadTrace_lose_step(trace); // It takes time to remove the hook.
        return true;
    }
    return ThreadTrace_step(trace, code,
                            code->layout.units[Hit_unit(hit)].number, depth,
                            hit->ticks);
}

static bool count(struct ThreadTrace *trace, struct Code *code,
                  const struct Hit *hit)
{
    // Depth 0 belongs to the sentinel at the bottom of the shadow stack, which
    // is never closed.
    uint32_t depth = Hit_depth(hit) ? Hit_depth(hit) : 1;

    if (Hit_kind(hit) != HIT_LINE && Hit_unit(hit) >= code->layout.unit_count)
        return false;
    trace->leaves = (uint32_t)Hit_to(hit);
    switch (Hit_kind(hit)) {
    case HIT_ENTER:
        return enter(trace, code, hit, depth, false);
    case HIT_RESUME:
        return enter(trace, code, hit, depth, true);
    case HIT_THROW:
        return throw_into(trace, code, hit, depth);
    case HIT_LEAVE:
        return leave(trace, code, hit, depth);
    case HIT_RAISE:
        ThreadTrace_leave(trace, code, NULL, depth, hit->ticks);
        return false;
    case HIT_JUMP:
    case HIT_BRANCH:
    case HIT_RIGHT:
        return jump(trace, code, hit, depth);
    case HIT_STEP:
        return step(trace, code, hit, depth);
    case HIT_LINE:
        return ThreadTrace_line(trace, code, hit, depth);
    default:
        return ThreadTrace_run_c(trace, code, hit, depth);
    }
}

// --- Counting of the hits in the ring ---

static void count_late(struct Counting *counting, const struct Hit *hit)
{
    enum HitKind kind = Hit_kind(hit);
    struct ThreadTrace *trace = counting->trace;
    struct Code *code;

    if (kind == HIT_THREAD) {
        counting->trace = (struct ThreadTrace *)Hit_address(hit);
        return;
    }
    if (kind >= HIT_PAID) {
        if (trace && kind == HIT_PAID) {
            Counter_add(&trace->overhead, Hit_address(hit));
            Counter_add(&trace->stolen, hit->where);
            Counter_add(&trace->paid, Hit_address(hit) - hit->where);
        } else if (trace) {
            trace->spent = (struct Spent){.taken = (int64_t)Hit_address(hit),
                                          .ran = (int64_t)hit->where};
        }
        return;
    }
    code = trace ? find(counting, Hit_address(hit)) : NULL;
    if (!code)
        return;
    if (count(trace, code, hit) && kind != HIT_THROW)
        HitRing_darken(&counting->ring, HitRing_key(hit->who, Hit_unit(hit)));
}

static void count_ring(struct Counting *counting)
{
    struct HitRing *ring = &counting->ring;
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    // This load of `head` pairs with the release in HitRing_push.
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t begin;

    if (tail == head)
        return;
    Counter_add(&counting->counted, head - tail);
    begin = Clock_counter();
    while (tail != head) {
        count_late(counting, &ring->hits[tail++ % HIT_RING_HITS]);
        // The release pairs with the acquire in HitRing_find_room.
        if (tail % AT_A_TIME == 0 || tail == head)
            atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    Counter_add(&counting->ticks, Clock_counter() - begin);
}

void Counting_begin(struct Counting *counting)
{
    pthread_mutex_lock(&counting->mutex);
    count_ring(counting);
}

bool Counting_make_room(struct Counting *counting)
{
    bool waited = false;
    unsigned i;

    for (i = 0; !HitRing_find_room(&counting->ring); i++) {
        if (pthread_mutex_trylock(&counting->mutex) == 0) {
            count_ring(counting);
            pthread_mutex_unlock(&counting->mutex);
            continue;
        }
        waited = true;
        if (i < YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return !waited;
}

int64_t Counting_hit_ticks(const struct Counting *counting)
{
    uint64_t hits = Counter_get(&counting->counted);
    double ticks =
        hits ? (double)Counter_get(&counting->ticks) / (double)hits : 0;
    // The measured ticks can include time in which other programs had the CPU.
    double most = MOST_S * counting->contention->hz;

    return (int64_t)(ticks < most ? ticks : most);
}

void Counting_end(struct Counting *counting)
{
    pthread_mutex_unlock(&counting->mutex);
}

void Counting_catch_up(struct Counting *counting)
{
    Counting_begin(counting);
    Counting_end(counting);
}

bool Counting_count(struct Counting *counting, struct ThreadTrace *trace,
                    struct Code *code, const struct Hit *hit)
{
    _Atomic uint64_t *dark;
    uint64_t key = HitRing_key(hit->who, Hit_unit(hit));

    counting->trace = trace;
    if (count(trace, code, hit))
        return true;
    // A site that has got its hook again can still be in the table of sites
    // without hooks (the dark table).
    dark = HitRing_dark_at(&counting->ring, key);
    if (atomic_load_explicit(dark, memory_order_relaxed) == key)
        atomic_store_explicit(dark, 0, memory_order_relaxed);
    return false;
}

void Counting_forget(struct Counting *counting, const struct Code *code)
{
    struct Seen *seen = seen_at(counting, code->who.address);

    Latency_forget(&counting->registry->latencies, code);
    if (seen->code == code)
        *seen = (struct Seen){0};
    if (counting->ring.task_code == code->who.address)
        counting->ring.task_code = 0;
}

void Counting_forget_thread(struct Counting *counting,
                            const struct ThreadTrace *trace)
{
    if (counting->trace == trace)
        counting->trace = NULL;
    if (counting->contention->last_trace == trace)
        counting->contention->last_trace = NULL;
}

void Counting_note(struct Counting *counting)
{
    Counter_add(&counting->alone, 1);
    HitRing_wake(&counting->ring);
}

void Counting_go_on(struct Counting *counting, struct ThreadTrace *trace,
                    uint64_t ticks)
{
    struct HitRing *ring = &counting->ring;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    counting->trace = trace;
    ring->trace = trace;
    ring->chunk = trace->chunk;
    Counting_note(counting);
    ring->last = ticks;
    ring->limit = head + (trace->name_asks ? NAME_HITS : HIT_RING_HITS / 2);
    Counting_set_brief(counting);
}

// Returns the entry of a thread record.
static struct Left *left_at(struct Counting *counting,
                            const struct ThreadTrace *trace)
{
    return &counting
                ->left[((uintptr_t)trace >> 6) * UINT64_C(0x9e3779b97f4a7c15) >>
                       56];
}

int64_t Counting_turn(struct Counting *counting,
                      const struct ThreadTrace *trace, uint64_t now)
{
    const struct HitRing *ring = &counting->ring;
    const struct ThreadTrace *before = HitRing_newest(ring);
    const struct Left *left = left_at(counting, trace);

    if (before == trace)
        return (int64_t)(now - ring->last);
    if (before)
        *left_at(counting, before) = (struct Left){before, ring->last};
    return left->trace == trace ? (int64_t)(now - left->ticks) : 0;
}

void Counting_reset(struct Counting *counting)
{
    struct HitRing *ring = &counting->ring;

    counting->trace = NULL;
    counting->between = false;
    counting->contention->last_trace = NULL;
    Counter_set(&counting->counted, 0);
    Counter_set(&counting->ticks, 0);
    ring->trace = HIT_RING_NOBODY;
    ring->task_code = 0;
    // Drops all hits in the ring, because their threads no longer exist.
    atomic_store_explicit(
        &ring->tail, atomic_load_explicit(&ring->head, memory_order_relaxed),
        memory_order_relaxed);
}

void Counting_after_fork(struct Counting *counting)
{
    pthread_mutex_init(&counting->mutex, NULL);
    Counting_reset(counting);
}

void Counting_set_brief(struct Counting *counting)
{
    const struct Contention *contention = counting->contention;
    double most = PREEMPTION_STOPPED_NS * 1e-9 * contention->hz;
    double often = PREEMPTION_LONG_NS * 1e-9 * contention->hz;

    // In a program of several threads, each wait must be known. Otherwise the
    // time in which the thread ran in a later span is not known.
    counting->ring.brief =
        contention->preempted || contention->long_span != INT64_MAX
            ? (uint64_t)contention->brief_span
            : (uint64_t)often;
    counting->ring.enter_brief =
        counting->between ? (uint64_t)most : counting->ring.brief;
}

void Counting_set_between(struct Counting *counting, bool between)
{
    Counting_begin(counting);
    counting->between = between;
    Counting_set_brief(counting);
    Counting_end(counting);
}

void Counting_set_preempted(struct Counting *counting, bool preempted)
{
    Counting_begin(counting);
    // The newest readings of all threads' times are outdated now.
    if (counting->contention->preempted != preempted)
        counting->contention->armed++;
    counting->contention->preempted = preempted;
    Counting_set_brief(counting);
    Counting_end(counting);
}
