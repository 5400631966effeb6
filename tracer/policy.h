// SPDX-License-Identifier: MIT
// What to re-arm, when and for how many hits. Pure: it is told about functions
// and answers with numbers; it knows no clock, no interpreter and no code.
//
// Each function has an interval after which its numbers are due to be fresh
// again: short where much time is spent, longest where none is. How far it is
// overdue is its urgency, and the most urgent comes first. Where the budget is
// too small for all, all intervals stretch alike: urgency grows with age
// without bound, so nothing starves.
#ifndef OCULAR_TRACER_POLICY_H
#define OCULAR_TRACER_POLICY_H

#include <stddef.h>
#include <stdint.h>

// What is remembered of a function from one re-arming to the next.
struct Visit {
    uint64_t calls, cycles; // timed ones, at the newest re-arming
    double mean;            // cycles a call of the newest session that had any
    double volatility;      // how much sessions differ, 0 to 1
    unsigned misses;        // sessions in turn that could time no call
    unsigned reach;         // steps by which its callees get more hits
};

// A session begins, and ends. Two sums that only grow: timed calls and their
// cycles.
void Visit_begin(struct Visit *visit, uint64_t calls, uint64_t cycles);
void Visit_end(struct Visit *visit, uint64_t calls, uint64_t cycles);

struct PolicyFunction {
    double share;      // of one core, lately; 0 where that is not known
    double age;        // s since its numbers were fresh
    double volatility; // of its Visit, as the next
    unsigned misses;
    unsigned reach;
    uint64_t timed;   // calls
    uint32_t bytes;   // of bytecode
    uint32_t sites;   // jumps and branches
    uint32_t callees; // to be armed with it
};

struct PolicyCosts { // s
    double fixed;    // of a re-arming
    double byte;     // of bytecode, besides
    double call;     // the hooks of a call
    double site;     // the hook of a jump
    double leaving;  // of a hook that is taken out
};

// s after which it is due, longer where it costs more than `rate` (s of
// allowance a second) can bear.
double Policy_interval(const struct PolicyFunction *function, double seconds,
                       double rate);
// Hits of a session: few, more where sessions differ or little is known.
// `pressure` is 0 to 1: how much is owed.
uint32_t Policy_hits(const struct PolicyFunction *function, double pressure);
// Hits of each callee that is armed with a caller.
uint32_t Policy_callee_hits(unsigned reach);
// What re-arming it for so many hits is going to cost, s.
double Policy_cost(const struct PolicyCosts *costs,
                   const struct PolicyFunction *function, uint32_t hits);

// --- A plan: the due ones, most urgent first

struct PlanItem {
    double urgency; // 1: due just now
    double seconds; // predicted
    uint32_t id;
    uint32_t hits;
    uint32_t callee_hits; // 0: alone
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
// The most urgent that is left, or NULL. Valid until the plan is cleared.
const struct PlanItem *Plan_pop(struct Plan *plan);

#endif
