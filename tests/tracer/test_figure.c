// SPDX-License-Identifier: MIT
// tracer/session/figure: how numbers are written, and where they change their
// unit.
#include "tracer/session/figure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_numbers(void **state)
{
    (void)state;
    assert_string_equal(Figure_number("", 0).text, "0");
    assert_string_equal(Figure_number("", 99999).text, "99999");
    assert_string_equal(Figure_number("", 1234567).text, "1.2M");
    assert_string_equal(Figure_number("~", 123456).text, "~123k");
    // A floor is never more than the number seen.
    assert_string_equal(Figure_number(">=", 1290000).text, ">=1.2M");
    assert_string_equal(Figure_number("", 1290000).text, "1.3M");
}

static void test_cycles(void **state)
{
    (void)state;
    assert_string_equal(Figure_cycles(3.21).text, "~3.2");
    assert_string_equal(Figure_cycles(37).text, "~37");
    assert_string_equal(Figure_cycles(NAN).text, "");
}

static void test_times(void **state)
{
    (void)state;
    assert_string_equal(Figure_time(45e-9).text, "45 ns");
    assert_string_equal(Figure_time(2e-6).text, "2.0 us");
    assert_string_equal(Figure_time(0.0705).text, "70.5 ms");
    assert_string_equal(Figure_time(0.99996).text, "1.0 s");
    assert_string_equal(Figure_time(4.21).text, "4.2 s");
}

static void test_bytes(void **state)
{
    (void)state;
    assert_string_equal(Figure_bytes(0).text, "0 bytes");
    assert_string_equal(Figure_bytes(999).text, "999 bytes");
    assert_string_equal(Figure_bytes(472500).text, "472.5 kB");
    assert_string_equal(Figure_bytes(999960).text, "1.0 MB");
    assert_string_equal(Figure_bytes(76.2e6).text, "76.2 MB");
    assert_string_equal(Figure_bytes(1.5e9).text, "1.5 GB");
}

static void test_lines(void **state)
{
    struct Bytes out;

    (void)state;
    Bytes_init(&out);
    Figure_print(&out, "%s=%d\n", "a", 1);
    Figure_print(&out, "%5000s", ""); // longer than a line may be
    assert_int_equal(out.size, 4 + 4095);
    assert_memory_equal(out.data, "a=1\n ", 5);
    Bytes_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_times),   cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
