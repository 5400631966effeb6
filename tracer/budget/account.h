// SPDX-License-Identifier: MIT
// Measures the overhead of a session and holds the session's budget. The
// governor's thread and the thread that builds snapshots read and lock the
// account. The account's mutex is held only briefly, and never by a thread that
// holds the GIL.
#pragma once

#include "tracer/budget/budget.h"

#include <pthread.h>
#include <stdbool.h>

// The functions and values from which an account makes its readings. The
// account's mutex is held while `read` runs.
struct AccountSource {
    void *context;
    // The budget as a fraction of CPU time, or NaN if there is no budget.
    const _Atomic double *share;
    // A function that fills in all fields of the reading except `wall` and
    // `cpu`. The field `hooks` is the time that hooks would have taken if all
    // caches had been warm, without `paid`.
    void (*read)(void *context, struct BudgetReading *reading);
};

struct Account {
    struct AccountSource source;
    pthread_mutex_t mutex; // Mutex that guards the budget.
    struct Budget budget;
    // Seconds of wall-clock time and of CPU time in Account_init.
    double wall, cpu;
    double timed; // Seconds that hooks would have taken with warm caches.
    double hooks; // Seconds that hooks have taken.
    double paid;  // Seconds of hooks that were measured.
    // Reading whose samples were the last that were used for the factor.
    struct BudgetReading judged;
    // The newest seconds of hooks in Ocular's code according to samples,
    // without measured time, and of `timed`. The factor is computed from them.
    double new_found, new_timed;
    _Atomic double factor; // The result of Account_hook_factor.
};

// Starts the account. CPU time that the process used before Account_init does
// not count.
void Account_init(struct Account *account, const struct AccountSource *source);
void Account_release(struct Account *account);
// Takes a reading and returns the budget, which stays locked until
// Account_close.
struct Budget *Account_open(struct Account *account);
// Returns the budget with the values of the newest reading. The returned budget
// stays locked until Account_close.
const struct Budget *Account_look(struct Account *account);
void Account_close(struct Account *account);
// Returns the factor by which hooks are slower than when they were timed at the
// start, at least 1. Account_hook_factor takes no lock.
double Account_hook_factor(const struct Account *account);
// Takes a reading and returns true if tracing has spent more than the token
// bucket contained.
bool Account_is_overdrawn(struct Account *account);
