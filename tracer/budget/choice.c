// SPDX-License-Identifier: MIT
// docs/architecture.md explains the constants in the section "The budget".
#include "tracer/budget/choice.h"
#include "ipc/base/array.h"
#include "tracer/base/rcu.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// Fraction of the hooks' time for functions that keep their hooks.
#define PART 0.5
// Fraction of the hooks' time for the program's own functions that keep their
// hooks.
#define OWN_PART 0.75
// Least fraction of the hooks' time for functions of libraries.
#define LEAST_PART 0.1
// If a function already has its hooks (is armed), its cost is multiplied by
// this factor, so that choices seldom change.
#define STAYS 0.7
// If a viewer has asked for the function's latencies, its cost is multiplied by
// this factor, so that it is chosen before other functions of its kind.
#define ASKED 1e-9
// Functions that already have hooks may exceed their fraction of the hooks'
// time by this factor.
#define SLACK 1.25
// Seconds. A new function's call rate is known after this time with hooks.
#define KNOWN_S 1.0
// Seconds. If a function had hooks for less time than this until the end of a
// slice, its call rate is unknown.
#define SHORT_S 0.09
// Mean age in seconds of the calls from which a call rate is computed.
#define RATE_S 5.0

// Returns the number of calls and resumptions per second. Each call and each
// resumption runs hooks.
static double entry_rate(const struct Code *code,
                         const struct ChoiceReading *reading)
{
    return Spans_rate(code, reading->ticks, reading->hz) /
           Code_calls_an_entry(code);
}

// Updates and returns the call rate of a function that always has hooks. The
// call rate is computed from the function's number of entries.
static double note_rate(struct Code *code, const struct ChoiceReading *reading)
{
    uint64_t entries = Counter_get(&code->hot.entries);
    double s = (double)(reading->ticks - code->plan.rate_ticks) / reading->hz;
    double rate;

    if (!code->plan.rate_ticks || !(s > 0)) {
        rate = entry_rate(code, reading);
        code->plan.rate = rate > 0 ? rate : 0;
    } else {
        rate = (double)(entries - code->plan.rate_entries) / s;
        code->plan.rate += (rate - code->plan.rate) * (1 - exp(-s / RATE_S));
    }
    code->plan.rate_entries = entries;
    code->plan.rate_ticks = reading->ticks;
    return code->plan.rate;
}

static bool is_known(const struct Code *code,
                     const struct ChoiceReading *reading)
{
    uint64_t open = Counter_get(&code->spans.open_ticks);

    double s = open ? (double)(reading->ticks - open) / reading->hz : 0;

    // If a function was found just before the end of a slice, its call rate
    // would be too high, because the measured time is short and begins with a
    // call.
    return reading->sliced ? !open || s >= SHORT_S : s > KNOWN_S;
}

// Returns the function's calls and resumptions per second, or NaN if the
// function cannot be chosen now.
static double rate_of(struct Code *code, const struct ChoiceReading *reading)
{
    enum Arming arming = Code_arming(code);

    if (code->hot.stop_at == CODE_NEVER ||
        (code->hot.dark && arming == ARMED_HOT))
        return NAN;
    if (arming == ARMED_ALWAYS)
        return note_rate(code, reading);
    code->plan.rate_ticks = 0;
    if (!is_known(code, reading) || (arming != ARMED_NEW && !reading->sliced))
        return NAN;
    return entry_rate(code, reading);
}

// Stores the time at which a call of the function was last timed. Viewers show
// the time since that call.
static void note_timed(struct Code *code, uint64_t ticks)
{
    uint64_t calls = Counter_get(&code->hot.self_calls);

    if (calls == code->plan.timed_calls && Counter_get(&code->plan.timed_ticks))
        return;
    code->plan.timed_calls = calls;
    Counter_set(&code->plan.timed_ticks, ticks);
    if (Code_dark_callees(code))
        Code_touch(code);
}

static int add(struct Choice *choice, const struct ChoiceItem *item)
{
    if (!ARRAY_GROW(choice->items, choice->count, choice->room, 256))
        return -ENOMEM;
    choice->items[choice->count++] = *item;
    return 0;
}

static int cheapest_first(const void *left, const void *right)
{
    const struct ChoiceItem *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

// Drops from the list of functions to change those that had their hooks and
// keep them.
static void drop_settled(struct Choice *choice)
{
    size_t count = 0;

    for (size_t i = 0; i < choice->count; i++)
        if (!choice->items[i].stays || !choice->items[i].stayed)
            choice->items[count++] = choice->items[i];
    choice->count = count;
}

// Marks the functions with the cheapest hooks as armed (with hooks), until
// their hooks use `room`. If `own` is true, share_out only marks functions of
// the program, otherwise only functions of libraries. Returns the part of
// `room` that is used.
static double share_out(struct Choice *choice, bool own, double room)
{
    double left = room;

    for (size_t i = 0; i < choice->count; i++) {
        struct ChoiceItem *item = &choice->items[i];

        if (item->own != own)
            continue;
        item->stays = item->cost_s <= left;
        if (item->stays)
            left -= item->cost_s;
        else
            choice->left_out = true;
    }
    return room - left;
}

static void decide(struct Choice *choice, double rate)
{
    double all_s = 0, own_s;

    for (size_t i = 0; i < choice->count; i++)
        all_s += choice->items[i].cost_s;
    // True only if the hooks of all functions together cost too much, which is
    // rare.
    if (all_s > PART * rate)
        qsort(choice->items, choice->count, sizeof *choice->items,
              cheapest_first);
    choice->left_out = false;
    own_s = share_out(choice, true, OWN_PART * rate);
    choice->stays_s =
        own_s +
        share_out(choice, false, fmax(PART * rate - own_s, LEAST_PART * rate));
}

int Choice_make(struct Choice *choice, const struct ChoiceReading *reading)
{
    double rate_s = reading->rate * (reading->sliced ? 1 : SLACK);
    struct Code *code;
    int error = 0;

    choice->count = choice->next = 0;
    choice->ticks = reading->ticks;
    Rcu_read_lock();
    for (code = Registry_first(reading->registry); code && !error;
         code = Registry_next(code)) {
        const struct Latency *latency = Code_latency(code);
        bool asked = latency && Latency_totals(latency);
        struct ChoiceItem item = {.id = code->hot.id,
                                  .own = code->who.own,
                                  .stayed = Code_arming(code) == ARMED_ALWAYS};
        double rate;

        if (!Code_was_seen(code))
            continue;
        Code_note_recent(code, reading->ticks, reading->hz);
        note_timed(code, reading->ticks);
        rate = rate_of(code, reading);
        if (isnan(rate))
            continue;
        item.cost_s = rate * reading->call_s;
        item.key =
            item.cost_s * (item.stayed ? STAYS : 1) * (asked ? ASKED : 1);
        error = add(choice, &item);
    }
    Rcu_read_unlock();
    decide(choice, rate_s);
    if (!reading->sliced)
        drop_settled(choice);
    return error;
}

const struct ChoiceItem *Choice_pop(struct Choice *choice)
{
    return choice->next < choice->count ? &choice->items[choice->next++] : NULL;
}

void Choice_release(struct Choice *choice)
{
    Heap_free(choice->items);
    *choice = (struct Choice){0};
}
