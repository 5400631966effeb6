// SPDX-License-Identifier: MIT
// Measures the overhead of a session and holds the session's budget. The
// governor's thread and the snapshot builder open the account. The account's
// mutex is held briefly, and never by a thread that holds the GIL.
#ifndef OCULAR_TRACER_BUDGET_ACCOUNT_H
#define OCULAR_TRACER_BUDGET_ACCOUNT_H

#include "tracer/budget/budget.h"

#include <pthread.h>
#include <stdbool.h>

// The source of the readings. The account's mutex is held while `read` runs.
struct AccountSource {
    void *context;
    // Share of CPU time, or NaN if there is no budget.
    const _Atomic double *share;
    // Fills all fields except the clocks `wall` and `cpu`. `hooks` is what the
    // hooks would take if all caches were warm.
    void (*read)(void *context, struct BudgetReading *reading);
};

struct Account {
    struct AccountSource source;
    pthread_mutex_t mutex; // guards the budget
    struct Budget budget;
    double wall, cpu; // seconds of both clocks at Account_init
    double timed;     // seconds of hooks with warm caches
    double hooks;     // seconds of hooks
    double found;     // seconds of hooks in our code, by samples
    // The newest seconds of `found` and `timed`, from which the factor is
    // computed.
    double new_found, new_timed;
    _Atomic double factor; // Account_hook_factor
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
// Returns how many times slower hooks are than when they were timed at the
// start, at least 1. Takes no lock.
double Account_hook_factor(const struct Account *account);
// Takes a reading and returns true if tracing has spent more than the token
// bucket had.
bool Account_is_overdrawn(struct Account *account);

#endif
