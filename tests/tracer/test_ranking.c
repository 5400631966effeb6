// SPDX-License-Identifier: MIT
// tracer/session/ranking: by the whole run, whether the code object is still
// there or not.
#include "tracer/session/ranking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// All names of the ranking, in its order.
static const char *order_of(const struct Snapshot *snapshot, size_t room)
{
    static char names[256];
    struct Ranked first[16];
    size_t count, i, used = 0;

    assert_true(room <= COUNT(first));
    count = Ranking_first(snapshot, first, room);
    assert_true(count <= room);
    names[0] = '\0';
    for (i = 0; i < count; i++) {
        assert_true(!first[i].function != !first[i].retired);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i ? " " : "",
                                 first[i].function ? first[i].function->name
                                                   : first[i].retired->name);
    }
    return names;
}

static struct Snapshot *snapshot_of(const struct Function *functions,
                                    size_t function_count,
                                    const struct RetiredRow *retired,
                                    size_t retired_count)
{
    struct Snapshot *snapshot = Snapshot_new();

    assert_non_null(snapshot);
    snapshot->functions = functions;
    snapshot->function_count = function_count;
    snapshot->retired = retired;
    snapshot->retired_count = retired_count;
    return snapshot;
}

// A function that was hot before a change of phase, and a module that has gone,
// come before a function that is hot now.
static void test_the_whole_run_counts(void **state)
{
    const struct Function functions[] = {
        {.name = "now", .cpu_share = 0.9, .run_share = 0.1},
        {.name = "before", .cpu_share = 0, .run_share = 0.5},
        {.name = "unseen", .cpu_share = 0, .run_share = NULL_F64},
    };
    const struct RetiredRow retired[] = {
        {.name = "<module>",
         .file = "main.py",
         .self_cycles = NULL_U64,
         .run_share = 0.3},
        {.name = "made", .file = "made.py", .run_share = 0.05},
    };
    struct Snapshot *s = snapshot_of(functions, 3, retired, 2);

    (void)state;
    assert_string_equal(order_of(s, 16), "before <module> now made unseen");
    assert_string_equal(order_of(s, 3), "before <module> now");
    assert_string_equal(order_of(s, 1), "before");
    assert_string_equal(order_of(s, 0), "");
    Snapshot_free(s);
}

// Without a sampler, and if shares are the same.
static void test_cycles_where_shares_do_not_tell(void **state)
{
    const struct Function functions[] = {
        {.name = "calls", .run_share = NULL_F64, .calls = 9},
        {.name = "total",
         .run_share = NULL_F64,
         .self_cycles = NULL_U64,
         .total_cycles = 900},
        {.name = "more", .run_share = NULL_F64, .self_cycles = 20, .calls = 1},
        {.name = "same", .run_share = 0, .self_cycles = 10},
    };
    const struct RetiredRow retired[] = {
        {.name = "gone",
         .file = "f.py",
         .run_share = NULL_F64,
         .self_cycles = 15},
        {.name = "nothing",
         .file = "f.py",
         .run_share = NULL_F64,
         .self_cycles = NULL_U64,
         .total_cycles = NULL_U64,
         .calls = NULL_U64},
    };
    struct Snapshot *s = snapshot_of(functions, 4, retired, 2);

    (void)state;
    assert_string_equal(order_of(s, 16), "more gone same total calls nothing");
    Snapshot_free(s);
}

static void test_a_sum_is_no_function(void **state)
{
    const struct RetiredRow retired[] = {
        {.name = "f", .file = "f.py", .line = 1, .run_share = 0.1},
        {.name = "(others)", .line = NULL_U64, .run_share = 0.6},
    };
    struct Snapshot *s = snapshot_of(NULL, 0, retired, 2);

    (void)state;
    assert_string_equal(order_of(s, 16), "f");
    assert_ptr_equal(Ranking_others(s), &retired[1]);
    s->retired_count = 1;
    assert_null(Ranking_others(s));
    Snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_whole_run_counts),
        cmocka_unit_test(test_cycles_where_shares_do_not_tell),
        cmocka_unit_test(test_a_sum_is_no_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
