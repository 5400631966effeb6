// SPDX-License-Identifier: MIT
// Tests tracer/budget/account, which computes the time of hooks from samples
// and from their time with warm caches.
#include "tracer/budget/account.h"

#include <math.h>
#include <string.h>

#include "tests/unit.h"

static struct BudgetReading given;

static void read_given(void *context, struct BudgetReading *reading)
{
    (void)context;
    *reading = given;
}

static void start(struct Account *account, const _Atomic double *share)
{
    const struct AccountSource source = {.share = share, .read = read_given};

    memset(&given, 0, sizeof given);
    Account_init(account, &source);
}

// Adds hooks that would take `timed` seconds with warm caches, and for which
// samples find `found` seconds in Ocular's code. Returns the seconds of hooks
// that the account adds.
static double spend(struct Account *account, double timed, double found)
{
    double before = account->hooks;

    given.hooks += timed;
    given.found += found;
    Account_open(account);
    Account_close(account);
    return account->hooks - before;
}

TEST(test_before_there_are_samples)
{
    static const _Atomic double budget = 0.01, none = NAN;
    struct Account account;

    start(&account, &budget);
    assert_true(fabs(spend(&account, 1e-4, 0) / 1e-4 - 4) < 0.1);
    given.paid = 1; // Measured time does not get the factor.
    assert_float_equal(spend(&account, 0, 0), 1, 1e-9);
    Account_release(&account);
    start(&account, &none);
    assert_true(fabs(spend(&account, 1e-4, 0) / 1e-4 - 1) < 0.1);
    Account_release(&account);
}

TEST(test_samples_say_how_cold_hooks_are)
{
    static const _Atomic double budget = 0.01;
    struct Account account;

    start(&account, &budget);
    // Samples find three times the warm time in Ocular's code, which is only
    // half of a hook. So hooks take six times the warm time.
    for (int i = 0; i < 100; i++)
        spend(&account, 0.01, 0.03);
    assert_true(fabs(Account_hook_factor(&account) - 6) < 0.5);
    assert_true(fabs(spend(&account, 0.01, 0.03) / 0.06 - 1) < 0.1);
    // The program has changed, and old samples count less and less.
    for (int i = 0; i < 600; i++)
        spend(&account, 0.01, 0.01);
    assert_true(fabs(Account_hook_factor(&account) - 2) < 0.3);
    // If no hooks have run, the account adds no time.
    assert_true(spend(&account, 0, 0) == 0);
    // Hooks never count as faster than with warm caches.
    for (int i = 0; i < 600; i++)
        spend(&account, 0.01, 0);
    assert_true(Account_hook_factor(&account) == 1);
    Account_release(&account);
}
