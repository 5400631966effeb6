// SPDX-License-Identifier: MIT
// See account.h.
#include "tracer/budget/account.h"
#include "ipc/base/now.h"

#include <stdatomic.h>
#include <time.h>

void Account_init(struct Account *account, const struct AccountSource *source)
{
    const struct BudgetReading zero = {0};

    account->source = *source;
    pthread_mutex_init(&account->mutex, NULL);
    account->wall = Now_s(CLOCK_MONOTONIC);
    account->cpu = Now_s(CLOCK_PROCESS_CPUTIME_ID);
    account->timed = account->hooks = 0;
    Budget_init(&account->budget, *source->share, &zero);
}

void Account_release(struct Account *account)
{
    pthread_mutex_destroy(&account->mutex);
}

// Returns the seconds of hook overhead so far, including the cold-cache
// penalty. `timed` is the hook overhead so far without the penalty.
static double hooks_s(struct Account *account, double timed)
{
    account->hooks += (timed - account->timed) *
                      (account->budget.share > 0 ? ACCOUNT_COLD : 1);
    account->timed = timed;
    return account->hooks;
}

struct Budget *Account_open(struct Account *account)
{
    const struct AccountSource *source = &account->source;
    struct BudgetReading reading = {0};

    pthread_mutex_lock(&account->mutex);
    source->read(source->context, &reading);
    reading.hooks = hooks_s(account, reading.hooks);
    // The process's CPU time is read last, so that our own time never exceeds
    // the process's time.
    reading.cpu = Now_s(CLOCK_PROCESS_CPUTIME_ID) - account->cpu;
    reading.wall = Now_s(CLOCK_MONOTONIC) - account->wall;
    // This load pairs with the store in Session_set_budget.
    Budget_set(&account->budget,
               atomic_load_explicit(source->share, memory_order_relaxed));
    Budget_read(&account->budget, &reading);
    return &account->budget;
}

const struct Budget *Account_look(struct Account *account)
{
    pthread_mutex_lock(&account->mutex);
    return &account->budget;
}

void Account_close(struct Account *account)
{
    pthread_mutex_unlock(&account->mutex);
}

bool Account_is_overdrawn(struct Account *account)
{
    const struct Budget *budget = Account_open(account);
    bool overdrawn = Budget_is_overdrawn(budget);

    Account_close(account);
    return overdrawn;
}
