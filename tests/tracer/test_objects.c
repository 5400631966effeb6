// SPDX-License-Identifier: MIT
// Tests tracer/hook/objects by programs in virtual time with known objects.
#include "tracer/hook/objects.h"

#include <math.h>
#include <stdio.h>

#include "tests/random.h"
#include "tests/sanitizers.h"
#include "tests/unit.h"

#define HZ 1e9 // Ticks a second.
#define EVENT_S 6e-9

static struct Objects objects;
static struct ObjectsTime now;
static const char types[4], functions[4]; // Addresses stand for objects.
static const char *const names[] = {"Temporary", "Leak", "Node", "Cached"};

static void reset(void)
{
    now = (struct ObjectsTime){HZ, 0};
    Objects_init(&objects, HZ, true);
    objects.event_s = EVENT_S;
    Objects_fold(&objects, &now);
}

static uint32_t number_of(int type)
{
    uint32_t number = Objects_find_type(&objects, &types[type]);

    return number
               ? number
               : Objects_meet_type(&objects, &types[type], names[type], false);
}

// Reports that an object was made or freed, as CPython does.
static void event_of(const void *object, int type, int function, bool born)
{
    if (objects.collecting)
        Objects_collect(&objects, object, number_of(type), born);
    if (objects.collecting || objects.phase != OBJECTS_OPEN)
        return;
    if (!born)
        Objects_died(&objects, object, number_of(type));
    else if (!Objects_born(&objects, object, &types[type],
                           &functions[function]))
        Objects_meet_pair(&objects, object, number_of(type),
                          &functions[function], 1 + (uint32_t)function);
    if (Objects_must_check(&objects) && Objects_is_over(&objects, now.ticks))
        Objects_end(&objects, &now);
}

static void event(int type, int function, bool born)
{
    event_of(&types[type], type, function, born);
}

static void pass(double s)
{
    now.ticks += (uint64_t)(s * HZ);
    now.cpu_ns += (uint64_t)(s * 1e9);
}

// Ends the window, if there is one, and begins the next one.
static void next_window(void)
{
    if (objects.phase == OBJECTS_OPEN)
        Objects_end(&objects, &now);
    Objects_fold(&objects, &now);
    Objects_open(&objects, &now, 1, 1e9, false);
}

// Runs the program for a millisecond. The program makes temporary objects and
// one that lives for the millisecond, leaks an object every ten milliseconds,
// and makes objects in cycles, which a collection frees each second.
static void work(int turn, int temporaries, bool leaks)
{
    event(3, 0, true);
    for (int i = 0; i < temporaries; i++) {
        event(0, i % 3 == 0, true);
        pass(1e-3 / temporaries);
        event(0, 0, false);
    }
    event(3, 0, false);
    event(2, 2, true);
    if (leaks && turn % 10 == 0)
        event(1, 3, true);
    if (turn % 1000 < 999)
        return;
    objects.collecting = true;
    for (int i = 0; i < 1000; i++)
        event(2, 0, false);
    objects.collecting = false;
}

// Runs the program for some seconds. Counting may take `rate` seconds per
// second. The governor gets the GIL between two milliseconds of the program.
static void run(int seconds, int temporaries, bool leaks, double rate)
{
    double due_s = 0;

    for (int turn = 0; turn < seconds * 1000; turn++) {
        double at_s = turn * 1e-3, s;

        work(turn, temporaries, leaks);
        if (at_s < due_s)
            continue;
        if (objects.phase == OBJECTS_OPEN)
            Objects_end(&objects, &now);
        Objects_fold(&objects, &now);
        due_s = at_s + 0.75 + 0.5 * (double)(random_u64() % 1000) / 1000;
        s = Objects_plan(&objects, rate, 1, random_u64() & 1);
        Objects_open(&objects, &now, fmin(s, 1), 1e9, s < 1);
    }
}

static struct ObjectRates rates_of(const char *name)
{
    for (int i = 0; i < objects.names; i++)
        if (strcmp(objects.sums[i].name, name) == 0)
            return Objects_rates(&objects, &objects.sums[i]);
    fail_msg("%s has no numbers", name);
    return (struct ObjectRates){0};
}

// Returns the growth of the pair whose function has the id.
static double growth_of(uint32_t id)
{
    int i = 1;

    while (objects.pair[i].id != id)
        i++;
    return Objects_pair_growth(&objects, &objects.pair_sums[i]);
}

// A leak of 100 objects a second among 100 000 births is found within a minute.
// No other type seems to grow, although windows of counting end while objects
// live, and few windows contain a collection.
TEST_WITH(test_a_leak_among_many_births, reset, NULL)
{
    struct ObjectRates leak, temporary, node;

    run(60, 100, true, 3e-4);
    assert_float_equal(Objects_part(&objects), 0.25, 0.05);
    leak = rates_of("Leak");
    temporary = rates_of("Temporary");
    node = rates_of("Node");
    assert_true(leak.grows && !temporary.grows && !node.grows);
    assert_float_equal(leak.net, 100, 10);
    assert_true(leak.net_error > 1 && leak.net_error < 10);
    assert_float_equal(leak.born, 100, 10);
    assert_float_equal(temporary.born, 100000, 5000);
    assert_float_equal(temporary.died, 100000, 5000);
    assert_float_equal(node.born, 1000, 100);
    assert_float_equal(node.died, 1000, 150);
}

// If the governor waits, the window that it opens next begins late.
TEST_WITH(test_windows_begin_late, reset, NULL)
{
    objects.late = true;
    run(60, 100, true, 3e-4);
    assert_false(rates_of("Leak").grows);
    assert_float_equal(rates_of("Leak").net, 100, 10);
    objects.late = false;
    for (int i = 0; i < 6; i++)
        run(60, 100, true, 3e-4);
    assert_true(rates_of("Leak").grows);
    assert_float_equal(rates_of("Leak").net, 100, 10);
}

// While the view is closed nothing is counted, so this time changes no rate.
TEST_WITH(test_the_view_is_closed_for_a_while, reset, NULL)
{
    struct ObjectRates node;

    run(60, 10, false, 3e-4);
    Objects_end(&objects, &now);
    Objects_fold(&objects, &now);
    pass(80);
    run(20, 10, false, 3e-4);
    node = rates_of("Node");
    assert_false(node.grows);
    assert_float_equal(node.died, 1000, 150);
}

TEST_WITH(test_nothing_grows_without_a_leak, reset, NULL)
{
    for (int round = 0; round < FEWER(20); round++) {
        reset();
        run(10 + (int)(random_u64() % 50), 10 << random_u64() % 4, false,
            1e-5 * (double)(1 + random_u64() % 100));
        for (int i = 0; i < objects.names; i++)
            assert_false(Objects_rates(&objects, &objects.sums[i]).grows);
    }
}

static bool happens(double probability)
{
    return (double)(random_u64() % 1000000) < probability * 1e6;
}

// The objects of 200 types live for 10 ms to 10 s. Hardly any type seems to
// grow in the first minute.
TEST_WITH(test_few_of_many_types_seem_to_grow, reset, NULL)
{
    static const char many[201];
    static int alive[201], red, length;

    for (int turn = 0; turn < FEWER(120000); turn++) {
        if (turn % 60000 == 0) {
            reset();
            for (int i = 1; i <= 200; i++)
                alive[i] = (int)(i * pow(10, i % 4 - 2));
        }
        if (turn % 500 == 0) {
            Objects_open(&objects, &now, 1, 1e9, false);
            length = random_u64() & 1 ? 90 : 10;
        }
        for (int i = 1; i <= 200; i++) {
            bool born = happens(i * 1e-3);
            bool died = happens(alive[i] * pow(10, 2 - i % 4) * 1e-3);
            uint32_t number = Objects_find_type(&objects, &many[i]);
            char name[32];

            alive[i] += born - died;
            if (objects.phase != OBJECTS_OPEN)
                continue;
            snprintf(name, sizeof name, "Type%d", i);
            if (!number)
                number = Objects_meet_type(&objects, &many[i], name, false);
            objects.type[number].born += born;
            objects.type[number].died += died;
        }
        pass(1e-3);
        if (turn % 500 != length)
            continue;
        Objects_end(&objects, &now);
        Objects_fold(&objects, &now);
        for (int i = 1; i < objects.names; i++)
            red += Objects_rates(&objects, &objects.sums[i]).grows;
    }
    assert_in_range(red, 0, 20);
}

TEST_WITH(test_all_objects_are_counted_if_that_is_cheap, reset, NULL)
{
    struct ObjectRates leak;
    uint64_t born = 0;

    run(30, 10, true, 0.01);
    assert_true(Objects_part(&objects) > 0.98);
    leak = rates_of("Leak");
    assert_true(leak.grows);
    assert_float_equal(leak.net, 100, 3);
    for (int i = 1; i < objects.names; i++)
        born += objects.sums[i].counted_born;
    // A second passes after the first window, and the last one is open.
    assert_in_range(born, 27 * 12100, 30 * 12100);
    // Another function creates a third of the temporary objects.
    for (int i = 1; i < objects.pairs; i++)
        if (objects.pair[i].id == 2)
            assert_float_equal(
                Objects_pair_rate(&objects, &objects.pair_sums[i]), 4000, 40);
    reset();
    objects.event_s = 4e-6; // A tenth of the time.
    run(30, 10, true, 1);
    assert_true(Objects_part(&objects) > 0.98);
}

// If a window is too expensive, it ends early. The rates are still right.
TEST_WITH(test_a_burst_ends_its_window, reset, NULL)
{
    Objects_open(&objects, &now, 1, 1000, true);
    for (int i = 0; i < 5000; i++) {
        event(0, 0, true);
        pass(1e-4);
    }
    assert_int_equal(objects.phase, OBJECTS_ENDED);
    pass(0.5);
    Objects_fold(&objects, &now);
    assert_float_equal(rates_of("Temporary").born, 10000, 100);
    assert_in_range(objects.sums[1].counted_born, 1000, 1002);
    // The program gets no CPU at the window's end, and then closes the window.
    reset();
    Objects_open(&objects, &now, 0.1, 1e9, true);
    for (int i = 0; i < 1000; i++) {
        event(0, 0, true);
        pass(1e-4);
    }
    now.ticks += (uint64_t)HZ;
    event(0, 0, true);
    Objects_fold(&objects, &now);
    assert_float_equal(rates_of("Temporary").born, 10000, 100);
}

// A new type can get a freed type's address, and new code that of freed code.
TEST_WITH(test_addresses_are_used_again, reset, NULL)
{
    uint32_t leak;

    Objects_open(&objects, &now, 1, 1e9, false);
    leak = Objects_meet_type(&objects, &types[0], "app.Leak", false);
    // While a class is being freed, its module is unknown.
    assert_int_equal(Objects_meet_type(&objects, &types[0], "Leak", false),
                     leak);
    Objects_meet_pair(&objects, &now, leak, &functions[0], 1);
    assert_true(Objects_born(&objects, &now, &types[0], &functions[0]));
    objects.epoch++; // As if the type was freed.
    assert_false(Objects_born(&objects, &now, &types[0], &functions[0]));
    assert_int_equal(Objects_find_type(&objects, &types[0]), 0);
    leak = Objects_meet_type(&objects, &types[0], "Node", false);
    Objects_meet_pair(&objects, &now, leak, &functions[0], 2);
    Objects_meet_pair(&objects, &now, leak, &functions[0], 2);
    Objects_died(&objects, &now, leak);
    pass(1);
    Objects_end(&objects, &now);
    Objects_fold(&objects, &now);
    assert_float_equal(rates_of("app.Leak").born, 2, 1e-3);
    assert_float_equal(rates_of("Node").born, 2, 1e-3);
    assert_float_equal(rates_of("Node").died, 1, 1e-3);
    assert_int_equal(objects.types, 2); // Old entries are gone.
    assert_int_equal(objects.pairs, 2);
}

TEST_WITH(test_more_types_and_functions_than_fit, reset, NULL)
{
    static const char many[20000];
    uint64_t born = 0;

    for (int window = 0; window < 3; window++) {
        next_window();
        for (int i = 0; i < 10000; i++) {
            char name[32];

            snprintf(name, sizeof name, "Type%d", i % 3000);
            Objects_meet_pair(
                &objects, &now,
                Objects_meet_type(&objects, &many[i % 3000], name, false),
                &many[10000 + i], (uint32_t)i);
        }
        pass(1);
    }
    next_window();
    for (int i = 0; i < objects.names; i++)
        born += objects.sums[i].counted_born;
    assert_int_equal(born, 30000);
    assert_in_range(objects.sums[0].counted_born, 15000, 25000);
}

// A program makes classes with new names for ever. Old names make room for new
// ones, but not those of a leak, and no object is lost.
TEST_WITH(test_names_of_dead_classes_make_room, reset, NULL)
{
    static const char many[400];
    uint64_t born = 0;

    for (int i = 0; i < 6000; i++) {
        char name[32];
        uint32_t number;

        if (i % 100 == 0) {
            next_window();
            event(1, 3, true);
        }
        snprintf(name, sizeof name, "Made%d", i);
        number = Objects_meet_type(&objects, &many[i % 400], name, false);
        Objects_meet_pair(&objects, &now, number, &functions[0], 1);
        Objects_died(&objects, &now, number);
        objects.epoch++; // The class dies.
        pass(1e-2);
    }
    next_window();
    for (int i = 0; i < objects.names; i++)
        born += objects.sums[i].counted_born;
    assert_int_equal(born, 6060);
    assert_in_range(objects.names, 500, OBJECT_NAMES);
    assert_float_equal(rates_of("Made5999").born, 0.1, 0.1);
    assert_true(rates_of("Leak").grows);
}

// One function leaks 100 objects a second, and another one makes a thousand of
// the same type, which die after a millisecond. A batch of objects that is
// cleared every ten seconds is no leak.
TEST_WITH(test_a_leak_and_a_batch, reset, NULL)
{
    static const char leak[6000][16], batch[1000][16], temporary[500][16];

    next_window();
    for (int turn = 0; turn < 60000; turn++) {
        event_of(&temporary[turn % 500], 1, 0, true);
        event_of(&temporary[(turn + 499) % 500], 1, 0, false);
        if (turn % 10 == 0) {
            event_of(&leak[turn / 10], 1, 3, true);
            event_of(&batch[turn / 10 % 1000], 2, 2, true);
        }
        for (int i = 0; turn % 10000 == 9999 && i < 1000; i++)
            event_of(&batch[i], 2, 0, false);
        pass(1e-3);
        if (turn % 1000 < 999)
            continue;
        next_window();
        assert_false(rates_of("Node").grows);
        if (turn > 30000)
            assert_true(rates_of("Leak").grows && growth_of(4) > 30 &&
                        growth_of(1) < 10);
    }
}

// A collection after the end of a window frees an object of this window. The
// object was garbage already, so it does not count as one that stays alive.
TEST_WITH(test_garbage_of_a_window, reset, NULL)
{
    next_window();
    event(2, 2, true);
    Objects_end(&objects, &now);
    objects.collecting = true;
    event(2, 2, false);
    assert_int_equal(objects.pair[1].net, 0);
}
