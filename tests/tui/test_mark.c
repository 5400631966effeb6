// SPDX-License-Identifier: MIT
// Tests how a thread is found again if several threads have had its id.
#include "tui/model/baseline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Returns the index of the thread that was found; -1: none.
static long find(const struct Thread *wanted, const struct Thread *threads,
                 size_t count)
{
    struct Snapshot snapshot = {.threads = threads, .thread_count = count};
    struct ThreadKey key = ThreadKey_of(wanted);
    const struct Thread *found = ThreadKey_find(&key, &snapshot);
    return found ? found - threads : -1;
}

static void test_find(void **state)
{
    const struct Thread now[] = {{.tid = 1, .name = "main"},
                                 {.tid = 7, .name = "new"},
                                 {.tid = 7, .name = "old", .ended = 1},
                                 {.tid = 7, .name = "new", .ended = 1}};
    const struct Thread alone[] = {{.tid = 7}};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(find(&now[i], now, 4), i);
    // The thread has ended, and another thread has its id.
    assert_int_equal(find(&(struct Thread){.tid = 7, .name = "old"}, now, 4),
                     2);
    // The thread has changed its name.
    assert_int_equal(find(&(struct Thread){.tid = 7, .name = "x"}, now, 4), 1);
    assert_int_equal(find(&now[2], alone, 1), -1); // another thread has this id
    assert_int_equal(find(&now[0], alone, 1), -1);
    assert_int_equal(find(&now[0], NULL, 0), -1);
}

static void test_equal(void **state)
{
    char name[200];
    struct Thread one = {.tid = 7, .name = name}, other = one;
    (void)state;
    memset(name, 'x', sizeof name - 1); // longer than the stored name
    name[sizeof name - 1] = 0;
    struct ThreadKey key = ThreadKey_of(&one), same = ThreadKey_of(&other);
    assert_true(ThreadKey_equal(&key, &same));
    other.ended = 1;
    same = ThreadKey_of(&other);
    assert_false(ThreadKey_equal(&key, &same));
    other.ended = NULL_U64; // not reported: the thread lives
    same = ThreadKey_of(&other);
    assert_true(ThreadKey_equal(&key, &same));
    other.name = NULL;
    same = ThreadKey_of(&other);
    assert_false(ThreadKey_equal(&key, &same));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
