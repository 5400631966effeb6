// SPDX-License-Identifier: MIT
// Each C test includes this header, which finds the tests of the file and runs
// them in their order.
//   TEST(what_holds) { ... }
//   TEST_WITH(what_holds, set_up, tear_down) { ... }
// set_up and tear_down can be NULL. If a file has to do something before all
// its tests, it defines OWN_MAIN and has a main() that calls Unit_run().
//   TEST_FIXTURE(what_holds) { ... }
// The file has a `struct Fixture`, and the functions set_up(f) and
// tear_down(f). Each of these tests has a new fixture `f`, which is zeroed
// before set_up(f).
#pragma once

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// The macro of cmocka also accepts NaN and infinity.
#undef assert_float_equal
#define assert_float_equal(value, expected, error)                             \
    if (!(__builtin_fabs((value) - (expected)) <= (error)))                    \
    fail_msg("%.9g is not %.9g", (double)(value), (double)(expected))

static struct CMUnitTest unit_tests[100]; // cmocka skips the empty entries

// Adds a test, unless $UNIT_SKIP has its name, followed by a space.
static inline void Unit_add(struct CMUnitTest test)
{
    static size_t count;
    const char *skip = getenv("UNIT_SKIP");
    const char *name = skip ? strstr(skip, test.name) : NULL;

    if (name && name[strlen(test.name)] == ' ')
        return;
    if (count == sizeof unit_tests / sizeof *unit_tests)
        abort();
    unit_tests[count++] = test;
}

static void (*unit_before)(void), (*unit_after)(void);

static inline int Unit_call(void (*function)(void))
{
    if (function)
        function();
    return 0;
}

static inline int Unit_before(void **state __attribute__((unused)))
{
    return Unit_call(unit_before);
}

static inline int Unit_after(void **state __attribute__((unused)))
{
    return Unit_call(unit_after);
}

static inline int Unit_run(void (*before)(void), void (*after)(void))
{
    unit_before = before;
    unit_after = after;
    // with this locale, the C library knows the width of characters
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(unit_tests, Unit_before, Unit_after);
}

#define UNIT_RUN(name, ...)                                                    \
    static void name##_run(void **state __attribute__((unused)))               \
    {                                                                          \
        name(__VA_ARGS__);                                                     \
    }                                                                          \
    __attribute__((constructor)) static void add_##name(void)                  \
    {                                                                          \
        Unit_add((struct CMUnitTest){#name, name##_run, name##_begin,          \
                                     name##_end, NULL});                       \
    }
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, set_up, tear_down)                                     \
    static void name(void);                                                    \
    static int name##_begin(void **state __attribute__((unused)))              \
    {                                                                          \
        return Unit_call(set_up);                                              \
    }                                                                          \
    static int name##_end(void **state __attribute__((unused)))                \
    {                                                                          \
        return Unit_call(tear_down);                                           \
    }                                                                          \
    UNIT_RUN(name)                                                             \
    static void name(void)

#define TEST_FIXTURE(name)                                                     \
    static void set_up(struct Fixture *f), tear_down(struct Fixture *f);       \
    static void name(struct Fixture *f);                                       \
    static int name##_begin(void **state)                                      \
    {                                                                          \
        *state =                                                               \
            Unit_zeroed(_Alignof(struct Fixture), sizeof(struct Fixture));     \
        set_up(*state);                                                        \
        return 0;                                                              \
    }                                                                          \
    static int name##_end(void **state)                                        \
    {                                                                          \
        tear_down(*state);                                                     \
        free(*state);                                                          \
        return 0;                                                              \
    }                                                                          \
    UNIT_RUN(name, *state)                                                     \
    static void name(struct Fixture *f __attribute__((unused)))

static inline void *Unit_zeroed(size_t alignment, size_t size)
{
    void *fixture = aligned_alloc(alignment, size);

    if (!fixture)
        abort();
    return memset(fixture, 0, size);
}

#ifndef OWN_MAIN
int main(void)
{
    return Unit_run(NULL, NULL);
}
#endif
