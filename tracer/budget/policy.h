// SPDX-License-Identifier: MIT
// What to re-arm, when and for how many hits, and how often to look for that.
// Pure: it is told about functions and answers with numbers; it knows no clock,
// no interpreter and no code.
//
// Each function has an interval after which its numbers are due to be fresh
// again: short where much time is spent, longest where none is. How far it is
// overdue is its urgency, and the most urgent comes first. Where the budget is
// too small for all, all intervals stretch alike: urgency grows with age
// without bound, so nothing starves.
#ifndef OCULAR_TRACER_BUDGET_POLICY_H
#define OCULAR_TRACER_BUDGET_POLICY_H

#include "tracer/code/rearm_window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_SLICE_S 0.2      // from a full slice to the next, at least,
#define POLICY_SLOWEST_S 1.0    // and at most
#define POLICY_RANK_MOST_S 10.0 // to the next ranking, however long it takes

// A re-arm window begins, and ends. `calls`: all that were timed until then.
void RearmWindow_begin(struct RearmWindow *window, uint64_t calls);
void RearmWindow_end(struct RearmWindow *window, uint64_t calls);

struct PolicyFunction {
    double share;    // of one core, lately; 0 where that is not known
    double age;      // s since its numbers were fresh
    bool seldom;     // a second's hits keep it armed
    unsigned misses; // of its RearmWindow, as the next
    unsigned reach;
    uint64_t timed;   // calls
    uint32_t bytes;   // of bytecode
    uint32_t sites;   // jumps and branches
    uint32_t callees; // to be armed with it
};

struct PolicyCosts { // s
    double call;     // the hooks of a call
    double site;     // the hook of a jump
};

// s after which it is due, longer where it costs more than `rate` (s of
// allowance a second) can bear.
double Policy_interval(const struct PolicyFunction *function, double seconds,
                       double rate);
// Hits of a re-arm window: few, more where little is known.
// `pressure` is 0 to 1: how deep the debt is.
uint32_t Policy_hits(const struct PolicyFunction *function, double pressure);
// The same where there is too little for all: who has waited for longer than an
// interval (`urgency` of them) has fewer, so that more are armed.
uint32_t Policy_late_hits(uint32_t hits, double urgency);
// Hits of each callee that is armed with a caller.
uint32_t Policy_callee_hits(unsigned reach);
// Of each function where so many are armed together (a viewer's key), for
// `means` (s): the threshold, or as many as the means can bear.
uint64_t Policy_all_hits(const struct PolicyCosts *costs, size_t count,
                         double means, uint64_t threshold);
// What the hooks of a call cost, with those of its loops once round.
double Policy_call_cost(const struct PolicyCosts *costs,
                        const struct PolicyFunction *function);
// What re-arming it for so many hits is going to cost, s.
double Policy_cost(const struct PolicyCosts *costs,
                   const struct PolicyFunction *function, uint32_t hits);

// --- How often. `rate` is s of allowance a second

// s from a slice to the next: slices take no more than a part of the allowance.
double Policy_slice_pause(double rate);
// s from a ranking of the functions to the next, where one has taken so many s
// of CPU time. (By the clock on the wall, who is kept from its CPU in there
// would pay 2000 times for it.)
double Policy_rank_pause(double took, double rate);
// So much code has come in so many s: is that much? What it costs is looked at
// often then, and for some time after that,
bool Policy_is_burst(uint32_t codes, double seconds);
// after so many s each time.
double Policy_burst_pause(double rate);
// Is it still to come? No time is put further ahead than `most`: where one lies
// there the counter has gone back, as where a machine was suspended.
bool Policy_is_ahead(uint64_t time, uint64_t now, uint64_t most);

// --- A plan: the due ones, most urgent first

struct PlanItem {
    double urgency; // 1: due just now
    double seconds; // predicted
    uint32_t id;
    uint32_t hits;        // of a re-arm window
    double steady_s;      // s a second of its hooks where it is to stay armed,
                          // and gets a second's hits; 0: it is called too
                          // often, or there is no room
    uint32_t callee_hits; // 0: alone
    bool times;           // its calls can be timed: if none is, that is a miss.
                          // Beside dark callees it says nothing, be they armed
                          // in the same slice
};

struct Plan { // all zero: an empty one
    struct PlanItem *items;
    size_t count, room, next;
};

void Plan_release(struct Plan *plan);
void Plan_clear(struct Plan *plan);
// 0 or -ENOMEM.
int Plan_add(struct Plan *plan, const struct PlanItem *item);
void Plan_sort(struct Plan *plan);
// What was due when it was made has not all been armed.
bool Plan_is_behind(const struct Plan *plan);
// The most urgent that is left, or NULL. Valid until the plan is cleared.
const struct PlanItem *Plan_pop(struct Plan *plan);

#endif
