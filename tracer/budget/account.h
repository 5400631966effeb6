// SPDX-License-Identifier: MIT
// Measures the overhead of a session and holds the session's budget. The
// governor's thread and the snapshot builder open the account. The account's
// mutex is held briefly, and never by a thread that holds the GIL.
#ifndef OCULAR_TRACER_BUDGET_ACCOUNT_H
#define OCULAR_TRACER_BUDGET_ACCOUNT_H

#include "tracer/budget/budget.h"

#include <pthread.h>
#include <stdbool.h>

// If a budget is set, hooks are slower by this factor than when they were timed
// at the start. With a budget hot code is dark, so hooks run seldom and find
// cold caches (docs/overhead.md).
#define ACCOUNT_COLD 1.5

// The source of the readings. The account's mutex is held while `read` runs.
struct AccountSource {
    void *context;
    // Share of CPU time, or NaN if there is no budget.
    const _Atomic double *share;
    // Fills all fields except the clocks `wall` and `cpu`. `hooks` does not
    // contain the cold-cache penalty.
    void (*read)(void *context, struct BudgetReading *reading);
};

struct Account {
    struct AccountSource source;
    pthread_mutex_t mutex; // guards the budget
    struct Budget budget;
    double wall, cpu; // seconds of both clocks at Account_init
    double timed;     // seconds of hook overhead without the penalty
    double hooks;     // seconds of hook overhead with the penalty
};

// Starts the account. CPU time that the process used before the call does not
// count.
void Account_init(struct Account *account, const struct AccountSource *source);
void Account_release(struct Account *account);
// Takes a reading and returns the budget, which is locked until Account_close.
struct Budget *Account_open(struct Account *account);
// Returns the budget with the values of the newest reading. The budget is
// locked until Account_close.
const struct Budget *Account_look(struct Account *account);
void Account_close(struct Account *account);
// Takes a reading and returns true if tracing has spent more than the token
// bucket had.
bool Account_is_overdrawn(struct Account *account);

#endif
