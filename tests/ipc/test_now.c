// SPDX-License-Identifier: MIT
// ipc/base/now: a clock that stands at 0 is not one that is not there.
#include "ipc/base/now.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct timespec reading;
static int result;

int clock_gettime(clockid_t id, struct timespec *now)
{
    (void)id;
    *now = reading;
    errno = EINVAL;
    return result;
}

static void read_as(time_t s, long ns, int status)
{
    reading = (struct timespec){s, ns};
    result = status;
}

static void test_ns(void **state)
{
    (void)state;
    read_as(3, 5, 0);
    assert_int_equal(Now_ns(CLOCK_MONOTONIC), 3000000005);
    read_as(3, 5, -1);
    assert_int_equal(Now_ns(Now_clock_of(1)), 0);
}

// A thread that has begun, and sleeps: it is there.
static void test_a_clock_that_has_not_begun(void **state)
{
    (void)state;
    read_as(0, 0, 0);
    assert_int_equal(Now_ns(Now_clock_of(1)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ns),
        cmocka_unit_test(test_a_clock_that_has_not_begun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
