// SPDX-License-Identifier: MIT
// The overhead of a session, by its clocks and counters, and the budget that it
// is held against. The governor and the builder of a snapshot open it; a mutex,
// held briefly, never with the interpreter's lock.
#ifndef OCULAR_TRACER_BUDGET_ACCOUNT_H
#define OCULAR_TRACER_BUDGET_ACCOUNT_H

#include "tracer/budget/budget.h"

#include <pthread.h>
#include <stdbool.h>

// Cold-cache penalty of hooks within a budget: hot code is dark, so hooks
// follow each other less closely than where they were timed, and take so many
// times as long (docs/overhead.md).
#define ACCOUNT_COLD 1.5

// The source of the readings; called with the account's mutex held.
struct AccountSource {
    void *context;
    const _Atomic double *share; // of CPU time, as set last; NaN = none
    // Fills all but the clocks. `hooks` is without the penalty.
    void (*read)(void *context, struct BudgetReading *reading);
};

struct Account {
    struct AccountSource source;
    pthread_mutex_t mutex; // guards the budget
    struct Budget budget;
    double wall, cpu; // s of the clocks, when it began
    double timed;     // s of hook overhead, without the penalty
    double hooks;     // s of hook overhead, with it
};

// The CPU time that the process has used before does not count.
void Account_init(struct Account *account, const struct AccountSource *source);
void Account_release(struct Account *account);
// Takes a reading; the budget as it is now, until Account_close.
struct Budget *Account_open(struct Account *account);
// The same as it was at the newest reading.
const struct Budget *Account_look(struct Account *account);
void Account_close(struct Account *account);
// More has been spent than the budget has room for.
bool Account_is_overdrawn(struct Account *account);

#endif
