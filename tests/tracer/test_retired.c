// SPDX-License-Identifier: MIT
// tracer/code/retired: one entry a name and place, none more than there is room
// for, and sums that stay whole after folding.
#include "ipc/base/heap.h"
#include "tracer/code/retired.h"

#include "tests/tracer/make_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct Code *make(const char *name, const char *file, uint32_t line)
{
    struct Code *code = make_code(1, 0x1000);

    Heap_free(code->who.name);
    Heap_free(code->who.file);
    code->who.name = Heap_text(name);
    code->who.file = Heap_text(file);
    code->who.line = line;
    code->hot.calls_exact = true;
    return code;
}

// Adds one that was called so often, each call 10 cycles.
static void retire(struct Retired *retired, struct Code *code, uint64_t calls)
{
    Counter_set(&code->hot.entries, calls);
    Counter_set(&code->hot.self_calls, calls);
    Counter_set(&code->hot.self_cycles, 10 * calls);
    Counter_set(&code->hot.total_cycles, 20 * calls);
    Counter_set(&code->hot.waited_cycles, calls);
    Counter_set(&code->share.cpu.total_ns, 3 * calls);
    Counter_set(&code->share.samples, calls / 2);
    Counter_set(&code->share.run_samples, calls / 5);
    Retired_add(retired, code);
    Code_free(code);
}

static void test_objects_of_one_name_are_one(void **state)
{
    struct Retired *retired = calloc(1, sizeof *retired);
    const struct RetiredFunction *first = &retired->functions[0];

    (void)state;
    retire(retired, make("f", "a.py", 1), 5);
    retire(retired, make("f", "a.py", 1), 7);
    assert_int_equal(retired->count, 1);
    assert_string_equal(first->name, "f");
    assert_string_equal(first->file, "a.py");
    assert_int_equal(first->line, 1);
    assert_int_equal(first->totals.objects, 2);
    assert_int_equal(first->totals.calls, 12);
    assert_int_equal(first->totals.events, 12);
    assert_int_equal(first->totals.self_calls, 12);
    assert_int_equal(first->totals.self_cycles, 120);
    assert_int_equal(first->totals.total_cycles, 240);
    assert_int_equal(first->totals.waited_cycles, 12);
    assert_int_equal(first->totals.cpu_ns, 36);
    assert_int_equal(first->totals.samples, 5);
    assert_int_equal(first->totals.run_samples, 2);
    assert_false(first->totals.inexact);
    assert_string_equal(Retired_name(retired, 1), "f");
    assert_null(Retired_name(retired, 2));
    assert_null(Retired_name(retired, 0));
    // Another name, file or line is another function.
    retire(retired, make("g", "a.py", 1), 1);
    retire(retired, make("f", "b.py", 1), 1);
    retire(retired, make("f", "a.py", 2), 1);
    retire(retired, make("fa", ".py", 1), 1);
    assert_int_equal(retired->count, 5);
    assert_int_equal(first->totals.calls, 12);
    assert_int_equal(retired->events, 16);
    Retired_release(retired);
    assert_int_equal(retired->count, 0);
    free(retired);
}

static void test_one_that_was_dark_makes_a_floor(void **state)
{
    struct Retired *retired = calloc(1, sizeof *retired);
    struct Code *code = make("f", "a.py", 1);

    (void)state;
    code->hot.calls_exact = false;
    retire(retired, code, 5);
    retire(retired, make("f", "a.py", 1), 5);
    assert_true(retired->functions[0].totals.inexact);
    Retired_release(retired);
    free(retired);
}

static void test_what_was_never_seen_leaves_nothing(void **state)
{
    struct Retired *retired = calloc(1, sizeof *retired);

    (void)state;
    retire(retired, make("f", "a.py", 1), 0);
    assert_int_equal(retired->count, 0);
    assert_int_equal(retired->others.objects, 0);
    Retired_release(retired);
    free(retired);
}

// More names than there is room for: the least go, the great stay, the sums
// are whole, and so is the memory.
static void test_the_least_are_folded(void **state)
{
    const uint64_t names = 20 * RETIRED_ROOM;
    struct Retired *retired = calloc(1, sizeof *retired);
    struct RetiredTotals sum = {0};
    uint64_t calls = 0, objects = 0;
    bool found = false;

    (void)state;
    for (uint64_t i = 0; i < names; i++) {
        char name[32];

        snprintf(name, sizeof name, "made_%05u", (unsigned)(i * 7919 % names));
        retire(retired, make(name, "made.py", 1), 1 + i % 10);
        retire(retired, make("great", "made.py", 1), 100);
        calls += 101 + i % 10;
        objects += 2;
    }
    assert_int_equal(retired->count, RETIRED_ROOM);
    for (size_t i = 0; i < retired->count; i++) {
        const struct RetiredFunction *function = &retired->functions[i];

        sum.calls += function->totals.calls;
        sum.objects += function->totals.objects;
        sum.self_cycles += function->totals.self_cycles;
        if (strcmp(function->name, "great") == 0) {
            assert_int_equal(function->totals.calls, 100 * names);
            found = true;
        }
    }
    assert_true(found);
    assert_int_equal(sum.calls + retired->others.calls, calls);
    assert_int_equal(sum.objects + retired->others.objects, objects);
    assert_int_equal(sum.self_cycles + retired->others.self_cycles, 10 * calls);
    assert_int_equal(retired->events, calls);
    assert_true(retired->bytes <= RETIRED_ROOM * sizeof "made_00000 made.py");
    Retired_release(retired);
    assert_int_equal(retired->bytes, 0);
    free(retired);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_of_one_name_are_one),
        cmocka_unit_test(test_one_that_was_dark_makes_a_floor),
        cmocka_unit_test(test_what_was_never_seen_leaves_nothing),
        cmocka_unit_test(test_the_least_are_folded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
