// SPDX-License-Identifier: MIT
// Tests tracer/budget/control in virtual time. The tests check the governor's
// wake-ups, and the work at each wake-up.
#include "tracer/budget/control.h"

#include "tests/unit.h"

// A simulated program that uses a fraction of a core. The governor reads struct
// World at each wake-up.
struct World {
    struct Control control;
    struct Budget budget;
    struct BudgetReading now;
    struct ControlDecision decision;
    double now_s, cores;
    unsigned full;
    bool more;
};

static void begin(struct World *w, double share)
{
    *w = (struct World){.now_s = 1000, .cores = 1};
    Budget_init(&w->budget, share, &w->now);
    Control_init(&w->control);
    assert_true(Control_begin(&w->control, w->now_s) < 0.1);
    // A fork shortly before a hold does not put the hold off.
    assert_true(Control_begin(&w->control, w->control.due_s - 0.01) < 0.011);
}

// The governor sleeps for `s` seconds, in which hooks take `hooks` seconds, and
// then wakes up.
static void wake(struct World *w, double s, double hooks)
{
    struct ControlReading reading = {0};

    w->now_s += s;
    w->now.wall += s;
    w->now.cpu += s * w->cores + hooks;
    w->now.hooks += hooks;
    if (Control_needs_account(&w->control, w->now_s, 0)) {
        Budget_read(&w->budget, &w->now);
        reading.budget = &w->budget;
    }
    w->decision = Control_step(&w->control, w->now_s, &reading);
    w->full += w->decision.full;
    if (w->decision.rank)
        Control_ranked(&w->control, w->now_s, 1e-3);
}

static void run(struct World *w, double s)
{
    for (double until = w->now_s + s; w->now_s < until;)
        wake(w, Control_pause(&w->control, w->now_s, w->more), 0);
}

// In a program that mostly sleeps, the governor takes the GIL half as often,
// and needs twice the time for it. The allowed overhead is the same.
TEST(test_a_light_program)
{
    struct World w;

    begin(&w, 0.01);
    w.cores = 0.3;
    run(&w, 100);
    assert_true(w.full > 140 && w.full < 180);
    begin(&w, 0.01);
    w.cores = 0.15; // Counts as a fifth of a core.
    run(&w, 100);
    assert_true(w.full > 49 && w.full < 65);
}

TEST(test_in_debt)
{
    struct World w;

    begin(&w, 0.01);
    run(&w, 5);
    wake(&w, 0.3, 0.1);
    assert_true(w.control.overdrawn);
    assert_false(w.decision.arm_new);
    assert_false(Control_may_hurry(&w.control));
    assert_float_equal(w.control.hooks, 0.1, 1e-9);
    run(&w, 60);
    assert_true(w.decision.arm_new);
    assert_true(Control_may_hurry(&w.control));
}

// If the clock jumps forwards or backwards, nothing is delayed by more than a
// second.
TEST(test_a_clock_that_jumps)
{
    static const double jumps[] = {-500, 500, -1e9};

    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct World w;
        unsigned before;

        begin(&w, 0.01);
        run(&w, 5);
        w.now_s += jumps[i];
        before = w.full;
        run(&w, 3);
        assert_true(w.full - before >= 2);
        assert_true(Control_pause(&w.control, w.now_s - 1e6, false) <= 2);
    }
}

TEST(test_a_viewers_request)
{
    double next_s = 0;

    assert_true(Control_may_wake(&next_s, 100));
    assert_false(Control_may_wake(&next_s, 100.01));
    assert_true(Control_may_wake(&next_s, 100.06));
    assert_true(Control_may_wake(&next_s, 1)); // The clock has gone back.
}
