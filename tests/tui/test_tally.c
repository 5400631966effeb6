// SPDX-License-Identifier: MIT
// Tests that tui/model/tally adds up the numbers of all functions. A number
// that is not measured is NaN, not zero.
#include "tui/model/tally.h"

#include <math.h>

#include "tests/unit.h"

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

TEST(test_deopts)
{
    const struct TransitionPair few = {"BINARY_OP_ADD_INT", "BINARY_OP", 4, 1};
    const struct TransitionPair more = {"BINARY_OP_ADD_INT", "BINARY_OP", 10,
                                        1};
    const struct TransitionPair swung = {"BINARY_OP_ADD_INT",
                                         "BINARY_OP_ADD_FLOAT", 7, 1};
    const struct TransitionPair gained = {"BINARY_OP", "BINARY_OP_ADD_FLOAT",
                                          900, 0};

    // The process does not record deoptimisations.
    assert_true(isnan(deopts_between(NULL, NULL)));
    assert_true(deopts_between(&few, &few) == 0);
    assert_true(deopts_between(&few, &more) == 3);
    // In a storm, the bytecode hardly ever contains the base opcode.
    assert_true(deopts_between(NULL, &swung) == 3.5);
    assert_true(deopts_between(NULL, &gained) == 0);
}

// Data about code that ran only at the start does not count as old.
TEST(test_oldest_data)
{
    struct Function functions[] = {
        {.state = STATE_DARK, .share = 0, .age_s = 7200},
        {.state = STATE_ARMED, .share = .2, .age_s = 600},
        {.state = STATE_PARTIAL, .share = .006, .age_s = 4},
        {.state = STATE_DARK, .share = .3, .age_s = 12},
    };
    struct Snapshot *now = at(1, NULL);
    struct Tally tally;

    now->functions = functions;
    now->function_count = 4;
    Tally_init(&tally);
    Tally_update(&tally, now, NULL);
    assert_true(tally.oldest_s == 12);
    // This function has ended, so its share decreases slowly.
    functions[3].share = 1e-4;
    Tally_update(&tally, now, NULL);
    assert_true(tally.oldest_s == 4);
    functions[2].share = 0;
    Tally_update(&tally, now, NULL);
    assert_true(isnan(tally.oldest_s)); // No function has old data.
    functions[0].share = NAN; // Nobody knows whether this function runs.
    Tally_update(&tally, now, NULL);
    assert_true(tally.oldest_s == 7200);
    Snapshot_free(now);
}
