// SPDX-License-Identifier: MIT
// The measured overhead of a session and the session's budget. The governor and
// the snapshot builder open the account. The account's mutex is held briefly,
// and never by a thread that holds the GIL.
#ifndef OCULAR_TRACER_BUDGET_ACCOUNT_H
#define OCULAR_TRACER_BUDGET_ACCOUNT_H

#include "tracer/budget/budget.h"

#include <pthread.h>
#include <stdbool.h>

// The factor by which hooks within a budget are slower than the hooks that were
// timed at start. Within a budget hot code is dark, so hooks run less often and
// find cold caches (docs/overhead.md).
#define ACCOUNT_COLD 1.5

// The source of the readings. The account's mutex is held while `read` runs.
struct AccountSource {
    void *context;
    const _Atomic double *share; // share of CPU time; NaN: no budget
    // Fills all fields except the clocks `wall` and `cpu`. `hooks` lacks the
    // cold-cache penalty.
    void (*read)(void *context, struct BudgetReading *reading);
};

struct Account {
    struct AccountSource source;
    pthread_mutex_t mutex; // guards the budget
    struct Budget budget;
    double wall, cpu; // s of both clocks at Account_init
    double timed;     // s of hook overhead without the penalty
    double hooks;     // s of hook overhead with the penalty
};

// Starts the account. Earlier CPU time of the process does not count.
void Account_init(struct Account *account, const struct AccountSource *source);
void Account_release(struct Account *account);
// Takes a reading and returns the budget, which is locked until Account_close.
struct Budget *Account_open(struct Account *account);
// Returns the budget as of the newest reading, locked until Account_close.
const struct Budget *Account_look(struct Account *account);
void Account_close(struct Account *account);
// Takes a reading and returns true if tracing has spent more than the token
// bucket had.
bool Account_is_overdrawn(struct Account *account);

#endif
