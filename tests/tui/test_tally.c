// SPDX-License-Identifier: MIT
// tui/tally: what nothing measures is not known, and not zero.
#include "tui/tally.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct Snapshot *at(double uptime, const struct TransitionPair *pair)
{
    struct Snapshot *snapshot = Snapshot_new();

    snapshot->uptime_s = uptime;
    snapshot->events = 100 * (uint64_t)uptime;
    snapshot->transition_pairs = pair;
    snapshot->transition_pair_count = pair != NULL;
    return snapshot;
}

static double deopts_between(const struct TransitionPair *first,
                             const struct TransitionPair *second)
{
    struct Snapshot *before = at(1, first), *now = at(3, second);
    struct Tally tally;

    Tally_init(&tally);
    Tally_update(&tally, before, NULL);
    Tally_update(&tally, now, before);
    Snapshot_free(before);
    Snapshot_free(now);
    assert_true(tally.events_per_s == 100);
    return tally.deopts_per_s;
}

static void test_deopts(void **state)
{
    const struct TransitionPair few = {"BINARY_OP_ADD_INT", "BINARY_OP", 4};
    const struct TransitionPair more = {"BINARY_OP_ADD_INT", "BINARY_OP", 10};

    (void)state;
    assert_true(isnan(deopts_between(NULL, NULL))); // nobody looks
    assert_true(deopts_between(&few, &few) == 0);
    assert_true(deopts_between(&few, &more) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deopts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
