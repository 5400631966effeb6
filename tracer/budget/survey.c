// SPDX-License-Identifier: MIT
// What is due is of two kinds. Code that is dark, or has a dark jump: nothing
// is seen of it. And code whose calls are seen but cannot be timed, since known
// callees are dark: those are to be armed for its next call.
#include "tracer/budget/survey.h"
#include "tracer/base/rcu.h"
#include "tracer/code/means.h"

#include <math.h>

#define AHEAD_S 60.0 // s that a time may lie ahead of a survey's, at most
#define CUMULATIVE_PART 0.2 // of the time in it and what it called
// Of a second's hits: what is called less often stays armed.
#define SELDOM_PART 0.5

static double age(const struct Survey *survey, uint64_t then)
{
    double s = (double)(int64_t)(survey->ticks - then) / survey->hz;

    // Far ahead: the counter has gone back since then, as where a machine was
    // suspended. It is long ago, at any rate.
    return s < -AHEAD_S ? -s : fmax(s, 0);
}

// s since a call could last be timed, as far as surveys tell.
static double timed_age(const struct Survey *survey, struct Code *code)
{
    uint64_t calls = Counter_get(&code->hot.self_calls);

    if (calls != code->plan.timed_calls ||
        !Counter_get(&code->plan.timed_ticks)) {
        code->plan.timed_calls = calls;
        Counter_set(&code->plan.timed_ticks, survey->ticks);
    }
    return age(survey, Counter_get(&code->plan.timed_ticks));
}

// s since it can no longer be seen in full: the age of what is known of it.
static double unseen_age(const struct Survey *survey, struct Code *code)
{
    if (!code->hot.broken)
        code->plan.broken_ticks = 0;
    else if (!code->plan.broken_ticks)
        code->plan.broken_ticks = survey->ticks;
    if (code->hot.dark)
        return age(survey, Counter_get(&code->hot.last_seen));
    // Its calls are seen, its blocks are not.
    return code->hot.broken ? age(survey, code->plan.broken_ticks) : 0;
}

static struct PolicyFunction function_of(const struct Survey *survey,
                                         const struct Code *code)
{
    struct PolicyFunction function = {
        .timed = code->plan.timed_calls,
        .bytes = 2 * code->layout.unit_count,
        .sites = code->layout.jump_count,
    };

    if (!survey->sampled)
        return function;
    if (Counter_get(&code->share.cpu.total_ns))
        function.share = ShareValue_window(&code->share.cpu, survey->sampled);
    // Who is above what is hot is looked at, too.
    if (Counter_get(&code->share.cumulative.total_ns))
        function.share +=
            CUMULATIVE_PART *
            ShareValue_window(&code->share.cumulative, survey->sampled);
    return function;
}

static double urgency(const struct Survey *survey,
                      const struct PolicyFunction *function, uint32_t hits)
{
    double cost = Policy_cost(&survey->costs, function, hits);

    return function->age / Policy_interval(function, cost, survey->rate);
}

// What is dark and called less often than a second's hits allow may stay armed
// from now on, if the hooks' part of the budget has room and all that was due
// lately had its turn. What is called more often gets the few hits of a re-arm
// window, and so has a dark jump of what is armed. Returns the hits that it is
// going to use in the next second, at most.
static uint32_t choose_hits(const struct Survey *survey,
                            const struct Code *code,
                            struct PolicyFunction *function,
                            struct PlanItem *item)
{
    double second = (double)survey->second_hits;
    double rate = survey->sampled
                      ? Code_call_rate(code, survey->sampled, survey->hz)
                      : NAN;
    double steady_s = (rate + 1) * Policy_call_cost(&survey->costs, function);

    item->hits = Policy_hits(function, survey->pressure);
    function->seldom = code->hot.dark && !survey->behind &&
                       second > item->hits && rate < SELDOM_PART * second &&
                       steady_s < survey->room;
    item->steady_s = function->seldom ? steady_s : 0;
    return function->seldom ? (uint32_t)rate + 1 : item->hits;
}

// 1 and *item, if it is due.
static int judge(const struct Survey *survey, struct Code *code,
                 struct PlanItem *item)
{
    uint64_t seen = Counter_get(&code->hot.last_seen);
    bool partial = code->hot.dark || code->hot.broken;
    uint32_t callees = code->hot.warming ? 0 : code->hot.dark_callees;
    double untimed = timed_age(survey, code), unseen = unseen_age(survey, code);
    // Calls have been seen since the newest that could be timed.
    bool lacking = callees && !code->cold.callee_hits &&
                   (partial || seen > Counter_get(&code->plan.timed_ticks));
    struct PolicyFunction function;
    // Hits of its own that it is going to use, and those that make a window
    // dear: what is to stay armed has its place in the room.
    uint32_t expected, window;

    if (!partial && !lacking)
        return 0;
    if (code->cold.unarmed && !code->cold.again &&
        !Counter_get(&code->share.run_samples))
        return 0; // called once: it may never be called again
    if (code->plan.window_open) {
        code->plan.window_open = false;
        RearmWindow_end(&code->plan.window, code->plan.timed_calls);
    }
    function = function_of(survey, code);
    item->id = code->hot.id;
    expected = choose_hits(survey, code, &function, item);
    if (!partial)
        expected = 0;
    window = function.seldom ? 0 : expected;
    function.age = unseen;
    function.misses = code->plan.refusals;
    item->urgency = urgency(survey, &function, window);
    item->callee_hits = 0;
    if (lacking) {
        function.age = untimed;
        function.misses = code->plan.window.misses;
        function.reach = code->plan.window.reach;
        function.callees = callees;
        if (urgency(survey, &function, window) >= 1) {
            item->urgency =
                fmax(item->urgency, urgency(survey, &function, window));
            item->callee_hits = Policy_callee_hits(code->plan.window.reach);
        } else {
            function.callees = 0;
        }
    }
    if (survey->behind) {
        item->hits = Policy_late_hits(item->hits, item->urgency);
        expected = expected < item->hits ? expected : item->hits;
    }
    item->times = item->callee_hits > 0 || !callees;
    item->seconds = Policy_cost(&survey->costs, &function, expected);
    return item->urgency >= 1;
}

// Shares the room out, the most urgent function first. Judges one that gets
// none again, as if it were called often, and drops it if it is not due then.
// The caller holds the read section.
static void share_room(const struct Survey *survey, struct Plan *plan)
{
    struct Survey often = *survey;
    double room = survey->room;
    size_t i, kept = 0;

    often.second_hits = 0;
    Plan_sort(plan);
    for (i = 0; i < plan->count; i++) {
        struct PlanItem *item = &plan->items[i];

        if (item->steady_s > room) {
            struct Code *code = Registry_by_id(survey->registry, item->id);

            if (!code || !judge(&often, code, item))
                continue;
        }
        room -= item->steady_s;
        plan->items[kept++] = *item;
    }
    plan->count = kept;
    Plan_sort(plan);
}

int Survey_plan(const struct Survey *survey, struct Plan *plan)
{
    struct PlanItem item;
    struct Code *code;
    int error = 0;

    Plan_clear(plan);
    Rcu_read_lock();
    for (code = Registry_first(survey->registry); code && !error;
         code = Registry_next(code))
        if (Code_was_seen(code)) {
            Code_note_recent(code, survey->ticks, survey->hz);
            if (judge(survey, code, &item))
                error = Plan_add(plan, &item);
        }
    share_room(survey, plan);
    Rcu_read_unlock();
    return error;
}
