// SPDX-License-Identifier: MIT
#include "tracer/code/c_calls.h"
#include "ipc/base/heap.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"

#include <math.h>

// A function's first window of counting ends after this number of calls of C
// functions. The function's own calls are timed only after this window.
#define FIRST_CALLS 64
#define FIRST 0.1 // Weight of a function's first window in all sums.
// A window ends between two calls of the function, unless one call makes this
// number of calls of C functions. Their hits do not fill the ring of hits.
#define MOST_CALLS 1024
// Largest number of calls of Python functions for which hooks are called in a
// window although they write no hit.
#define OTHERS_MOST 1024
// Largest number of C functions that are kept for one instruction.
#define PAIRS_MOST 16
// When samples are divided among C functions, a call counts at least this
// number of cycles, because hooks cannot measure fewer.
#define LEAST_CYCLES 50

// --- Pairs -------------------------------------------------------------------

static struct CPair *first_in(const struct CCalls *calls, uint16_t number)
{
    // This load pairs with the release in add.
    return atomic_load_explicit(&calls->pairs[number % C_CALLS_BUCKETS],
                                memory_order_acquire);
}

static struct CPair *after(const struct CPair *pair)
{
    return atomic_load_explicit(&pair->next, memory_order_relaxed);
}

static struct CPair *find(const struct CCalls *calls, uint16_t number,
                          uint32_t id)
{
    struct CPair *pair = first_in(calls, number);

    while (pair && (pair->number != number || pair->id != id))
        pair = after(pair);
    return pair;
}

// Returns false for a code unit above UINT16_MAX, because instruction numbers
// have 16 bits.
static bool has_number(const struct Code *code, uint32_t unit)
{
    return unit < code->layout.unit_count && unit <= UINT16_MAX;
}

void CCalls_prepare(struct Code *code)
{
    struct CCalls *calls = Heap_zeroed(1, sizeof *calls);

    if (!calls)
        return;
    calls->window = C_FIRST;
    calls->most = FIRST_CALLS;
    // The release pairs with the acquire in CCalls_of.
    atomic_store_explicit(&code->links.c_calls, calls, memory_order_release);
}

static struct CPair *add(struct CCalls *calls, uint16_t number, uint32_t id)
{
    struct CPair *_Atomic *head = &calls->pairs[number % C_CALLS_BUCKETS];
    struct CPair *pair;
    int count = 0;

    for (pair = *head; pair; pair = after(pair))
        count += pair->number == number;
    pair = count < PAIRS_MOST ? Heap_zeroed(1, sizeof *pair) : NULL;
    if (!pair)
        return NULL;
    pair->id = id;
    pair->number = number;
    atomic_init(&pair->next, *head);
    // The release pairs with the acquire in first_in.
    atomic_store_explicit(head, pair, memory_order_release);
    return pair;
}

bool CCalls_note(struct Code *code, uint32_t unit, uint32_t id)
{
    struct CCalls *calls = CCalls_of(code);
    struct CPair *pair, *own = NULL;
    uint16_t number;
    bool changed = false;

    if (!has_number(code, unit) || (!calls && !id))
        return false;
    if (!calls)
        CCalls_prepare(code);
    calls = CCalls_of(code);
    if (!calls)
        return false;
    number = code->layout.units[unit].number;
    for (pair = first_in(calls, number); pair; pair = after(pair)) {
        if (pair->number != number)
            continue;
        if (pair->id == id)
            own = pair;
        if (pair->newest == (pair->id == id))
            continue;
        changed = true;
        atomic_store_explicit(&pair->newest, pair->id == id,
                              memory_order_relaxed);
    }
    if (own || !id)
        return own || !changed;
    pair = add(calls, number, id);
    if (pair)
        atomic_store_explicit(&pair->newest, true, memory_order_relaxed);
    return false;
}

static struct CPair *newest_of(const struct CCalls *calls, uint16_t number)
{
    struct CPair *pair = first_in(calls, number);

    while (pair && (pair->number != number ||
                    !atomic_load_explicit(&pair->newest, memory_order_relaxed)))
        pair = after(pair);
    return pair;
}

struct CPair *CCalls_newest(const struct Code *code, uint32_t unit)
{
    const struct CCalls *calls = CCalls_of(code);

    return calls && has_number(code, unit)
               ? newest_of(calls, code->layout.units[unit].number)
               : NULL;
}

struct CPair *CCalls_raiser(const struct Code *code, uint32_t unit)
{
    struct CPair *most = CCalls_newest(code, unit), *pair = NULL;

    if (!CCalls_is_open(code) && CCalls_of(code) && has_number(code, unit))
        pair = first_in(CCalls_of(code), code->layout.units[unit].number);
    for (; pair; pair = after(pair))
        if (pair->number == code->layout.units[unit].number &&
            Counter_get(&pair->raised) >
                (most ? Counter_get(&most->raised) : 0))
            most = pair;
    return most;
}

bool CCalls_expects(const struct Code *code, uint32_t unit)
{
    struct CCalls *calls = CCalls_of(code);
    const struct CPair *pair = NULL;

    if (calls && has_number(code, unit) && calls->others < OTHERS_MOST) {
        calls->others++;
        pair = first_in(calls, code->layout.units[unit].number);
        while (pair && pair->number != code->layout.units[unit].number)
            pair = after(pair);
    }
    return pair;
}

// --- Samples -----------------------------------------------------------------

// Returns the pair's weight when samples are divided among the C functions that
// its instruction calls.
static double weight_of(const struct CPair *pair, struct Registry *registry)
{
    const struct Code *code = Registry_by_id(registry, pair->id);
    double mean = code ? Code_self_mean(code) : NAN;

    return code ? pair->calls * fmax(mean, LEAST_CYCLES) : 0;
}

uint32_t CCalls_choose(struct Code *code, uint16_t number,
                       struct Registry *registry)
{
    const struct CCalls *calls = CCalls_of(code);
    struct CPair *first = calls ? first_in(calls, number) : NULL, *pair;
    struct CPair *most = NULL;
    double whole = 0;

    for (pair = first; pair; pair = after(pair))
        if (pair->number == number)
            whole += weight_of(pair, registry);
    for (pair = first; pair && whole > 0; pair = after(pair)) {
        if (pair->number != number)
            continue;
        pair->unattributed += weight_of(pair, registry) / whole;
        if (!most || pair->unattributed > most->unattributed)
            most = pair;
    }
    if (most)
        most->unattributed -= 1;
    else if (first)
        most = newest_of(calls, number);
    return most ? most->id : 0;
}

// --- Windows -----------------------------------------------------------------

static void set_window(struct CCalls *calls, enum CWindow window)
{
    atomic_store_explicit(&calls->window, window, memory_order_relaxed);
}

static void begin(struct CCalls *calls, uint64_t entries, uint64_t ticks)
{
    calls->hits = 0;
    calls->paid = 0;
    calls->payer = NULL;
    calls->from_entries = calls->entries_then = entries;
    calls->from_ticks = ticks;
    if (!calls->begun)
        calls->begun = ticks;
    set_window(calls, C_OPEN);
}

void CCalls_open(struct Code *code, uint64_t ticks, uint32_t most)
{
    struct CCalls *calls = CCalls_of(code);

    if (!calls)
        return;
    // A window can still be open when a slice begins.
    CCalls_close(code, Counter_get(&code->hot.entries), ticks);
    calls->most = most;
    calls->others = 0;
    begin(calls, Counter_get(&code->hot.entries), ticks);
}

// Returns the weight of the open window. The first window begins with a call,
// so it makes a function look busier than it is.
static double weight_now(const struct CCalls *calls)
{
    return calls->most == FIRST_CALLS ? FIRST : 1;
}

// Adds the open window, which ends at `ticks`, to all sums, after they were
// multiplied by `kept`.
static void add_window(struct CCalls *calls, double kept, uint64_t ticks)
{
    double weight = weight_now(calls), before = 0, now = 0, off;
    // `ticks` can be before the beginning of the window, if a thread read its
    // clock before another thread opened the window.
    double raw =
        ticks > calls->from_ticks ? (double)(ticks - calls->from_ticks) : 1;
    double length = weight * (raw - (double)calls->paid);

    for (int i = 0; i < C_CALLS_BUCKETS; i++)
        for (struct CPair *pair = calls->pairs[i]; pair; pair = after(pair)) {
            double earlier = kept * pair->calls;
            before += earlier;
            now += weight * pair->open;
            pair->calls = earlier + weight * pair->open;
            pair->open = 0;
            pair->counted = true;
        }
    calls->entries = kept * calls->entries;
    calls->ticks = kept * calls->ticks;
    // Estimates from earlier windows how long the calls of this window should
    // take.
    off = before > 0 ? now * calls->ticks / before - length : length;
    calls->errors = kept * kept * calls->errors + off * off;
    calls->ticks = calls->ticks + length;
    calls->hooks = kept * calls->hooks + weight * (double)calls->paid;
}

void CCalls_pay(struct Code *code, const struct CPayment *payment)
{
    struct CCalls *calls = CCalls_of(code);
    uint64_t from = payment->before;

    if (!calls || calls->window != C_OPEN)
        return;
    // Hooks of other events ran since the thread's newest call, too.
    if (calls->payer == payment->payer && calls->payer_paid < from)
        from = calls->payer_paid;
    // The window was opened while no other thread could run.
    if (!calls->payer && payment->ticks - calls->from_ticks < payment->held)
        calls->paid += payment->ticks - calls->from_ticks;
    calls->paid += payment->after - from;
    calls->payer = payment->payer;
    calls->payer_paid = payment->after;
}

void CCalls_close(struct Code *code, uint64_t entries, uint64_t ticks)
{
    struct CCalls *calls = CCalls_of(code);
    bool whole;

    if (!calls || calls->window != C_OPEN)
        return;
    set_window(calls, C_SHUT);
    whole = entries > calls->from_entries;
    add_window(calls, whole && calls->cut ? 0 : SPANS_KEPT, ticks);
    calls->cut &= !whole;
    if (whole)
        calls->entries =
            calls->entries +
            weight_now(calls) * (double)(entries - calls->from_entries);
}

// Ends a window in the middle of a long call. It is unknown which part of the
// call the window contains, so only the time counts.
static void cut(struct CCalls *calls, uint64_t ticks)
{
    set_window(calls, C_SHUT);
    add_window(calls, SPANS_KEPT, ticks);
    calls->entries = 0;
    calls->cut = true;
}

// Does not count a call, because the window has ended. Returns false.
static bool refuse(struct CPair *pair)
{
    // The pair was added after the window had ended, before a hit showed this
    // end.
    if (pair && !(pair->calls > 0))
        pair->counted = false;
    return false;
}

bool CCalls_count(struct Code *code, uint32_t unit, uint32_t id, bool exact,
                  uint64_t ticks)
{
    struct CCalls *calls = CCalls_of(code);
    struct CPair *pair;
    uint64_t entries = Counter_get(&code->hot.entries);

    if (!calls || !has_number(code, unit))
        return exact;
    pair = find(calls, code->layout.units[unit].number, id);
    if (exact) {
        if (pair)
            pair->calls = pair->calls + 1;
        return true;
    }
    if (code->hot.dark)
        set_window(calls, C_SHUT);
    if (calls->window == C_FIRST)
        // The window includes the call of the function that runs now.
        begin(calls, entries - (entries > 0), ticks);
    if (calls->window != C_OPEN)
        return refuse(pair);
    if (entries != calls->entries_then && calls->hits >= calls->most) {
        CCalls_close(code, entries - 1, ticks);
        return refuse(pair);
    }
    calls->entries_then = entries;
    // A main loop that began before the trace has no hit except those of the C
    // functions that it calls.
    if (!Counter_get(&code->hot.last_seen))
        Counter_set(&code->hot.last_seen, ticks);
    if (pair)
        pair->open++;
    if (++calls->hits >= MOST_CALLS)
        cut(calls, ticks);
    return true;
}
