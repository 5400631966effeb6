// SPDX-License-Identifier: MIT
// The hash of parked stacks: what goes in comes out once, in any order.
#include "tracer/hook/stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MANY 3000

static struct Stack *make(uintptr_t root)
{
    struct Stack *stack = Stack_new(16);

    assert_non_null(stack);
    assert_ptr_equal(stack->top, stack->bottom);
    stack->root = root;
    return stack;
}

// Roots are addresses of pages, or 0.
static uintptr_t root_of(size_t i)
{
    return i * 16384;
}

static void test_nothing_is_parked(void **state)
{
    struct Stacks stacks = {0};

    (void)state;
    assert_null(Stacks_take(&stacks, 0));
    assert_null(Stacks_take(&stacks, root_of(1)));
    Stacks_clear(&stacks);
}

static void test_all_are_found_once(void **state)
{
    static struct Stack *made[MANY];
    struct Stacks stacks = {0};
    size_t i;

    (void)state;
    for (i = 0; i < MANY; i++) {
        made[i] = make(root_of(i));
        assert_int_equal(Stacks_park(&stacks, made[i]), 0);
    }
    assert_int_equal(stacks.count, MANY);
    for (i = 0; i < MANY; i++) {
        size_t at = i * 7 % MANY; // another order

        assert_ptr_equal(Stacks_take(&stacks, root_of(at)), made[at]);
        assert_null(Stacks_take(&stacks, root_of(at)));
        Stack_free(made[at]);
    }
    assert_int_equal(stacks.count, 0);
    assert_null(stacks.oldest);
    assert_null(stacks.newest);
    Stacks_clear(&stacks);
}

static void test_order_of_parking(void **state)
{
    struct Stacks stacks = {0};
    const struct Stack *stack;
    size_t i, count = 0;

    (void)state;
    for (i = 1; i <= 5; i++)
        Stacks_park(&stacks, make(root_of(i)));
    Stacks_park(&stacks, Stacks_take(&stacks, root_of(1))); // the oldest
    Stacks_park(&stacks, Stacks_take(&stacks, root_of(3))); // in the middle
    Stacks_park(&stacks, Stacks_take(&stacks, root_of(3))); // the newest
    for (stack = stacks.oldest; stack; stack = stack->newer) {
        static const size_t order[] = {2, 4, 5, 1, 3};

        assert_int_equal(stack->root, root_of(order[count++]));
        assert_true(stack->newer || stack == stacks.newest);
    }
    assert_int_equal(count, 5);
    Stacks_clear(&stacks);
    assert_int_equal(stacks.count, 0);
    assert_null(Stacks_take(&stacks, root_of(2)));
    assert_int_equal(Stacks_park(&stacks, make(root_of(2))), 0); // goes on
    Stacks_clear(&stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_parked),
        cmocka_unit_test(test_all_are_found_once),
        cmocka_unit_test(test_order_of_parking),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
