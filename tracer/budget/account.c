// SPDX-License-Identifier: MIT
#include "tracer/budget/account.h"
#include "ipc/base/now.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

// The cost of a hook is measured at the start, in calls that follow each other
// at once. With a budget, frequently called code has no hooks. The remaining
// hooks run seldom and find cold caches. Until there are samples, a hook's cost
// is multiplied by COLD with a budget and by WARM without one
// (docs/overhead.md).
#define COLD 4.0
#define WARM 1.0
// The fraction of a hook's time that is in Ocular's code. CPython's code takes
// the rest.
#define IN_OUR_CODE 0.5
// Seconds of hooks after which samples count as much as COLD or WARM. In
// TRUST_S seconds of hooks, about ten samples find a hook.
#define TRUST_S 0.15
// After each JUDGED_S seconds of hooks, their samples are used for the factor,
// except if measured time was more than PAID_MOST times the calibrated time.
// Most of it then was work on new code, which says nothing about the factor.
#define JUDGED_S 1e-3
#define PAID_MOST 8
// If `new_timed` exceeds this number of seconds, old samples get less weight.
#define MEMORY_S 1.0

// Returns the factor by which hooks are slower than with warm caches. Samples
// recognise a hook only while Ocular's code runs. The factor is the time of
// hooks according to samples, divided by the time that they would take with
// warm caches. As long as there are few samples, the factor is close to COLD or
// WARM.
static double choose_factor(const struct Account *account)
{
    double before = account->budget.share > 0 ? COLD : WARM;

    return fmax(1, (TRUST_S + fmax(account->new_found, 0) / IN_OUR_CODE) /
                       (TRUST_S / before + account->new_timed));
}

void Account_init(struct Account *account, const struct AccountSource *source)
{
    const struct BudgetReading zero = {0};

    account->source = *source;
    pthread_mutex_init(&account->mutex, NULL);
    account->wall = Now_s(CLOCK_MONOTONIC);
    account->cpu = Now_s(CLOCK_PROCESS_CPUTIME_ID);
    account->timed = account->hooks = account->paid = 0;
    account->judged = zero;
    account->new_found = account->new_timed = 0;
    Budget_init(&account->budget, *source->share, &zero);
    atomic_init(&account->factor, choose_factor(account));
}

void Account_release(struct Account *account)
{
    pthread_mutex_destroy(&account->mutex);
}

double Account_hook_factor(const struct Account *account)
{
    return atomic_load_explicit(&account->factor, memory_order_relaxed);
}

// Uses the samples since `judged` for the factor.
static void judge(struct Account *account, const struct BudgetReading *reading)
{
    double timed = reading->hooks - account->judged.hooks;
    double paid = reading->paid - account->judged.paid;

    if (timed + paid < JUDGED_S)
        return;
    if (paid < PAID_MOST * timed) {
        account->new_timed += timed;
        account->new_found +=
            reading->found - account->judged.found - IN_OUR_CODE * paid;
    }
    account->judged = *reading;
    if (account->new_timed > MEMORY_S) {
        account->new_timed /= 2;
        account->new_found /= 2;
    }
    atomic_store_explicit(&account->factor, choose_factor(account),
                          memory_order_relaxed);
}

// Returns the seconds that hooks have taken so far.
static double hooks_s(struct Account *account,
                      const struct BudgetReading *reading)
{
    judge(account, reading);
    account->hooks +=
        (reading->hooks - account->timed) * Account_hook_factor(account) +
        reading->paid - account->paid;
    account->timed = reading->hooks;
    account->paid = reading->paid;
    return account->hooks;
}

struct Budget *Account_open(struct Account *account)
{
    const struct AccountSource *source = &account->source;
    struct BudgetReading reading = {0};

    pthread_mutex_lock(&account->mutex);
    source->read(source->context, &reading);
    reading.hooks = hooks_s(account, &reading);
    // The process's CPU time is read last, so that Ocular's time never exceeds
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
