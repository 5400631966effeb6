// SPDX-License-Identifier: MIT
// Tests tracer/code/latency. The tests check the latencies of calls that are
// suspended, the calls in flight, and the calls whose ends were missed.
#include "tracer/code/latency.h"

#include "tests/unit.h"

#include "tests/tracer/make_code.h"

struct Fixture {
    struct Latencies latencies;
    struct Code *code;
};

static void set_up(struct Fixture *f)
{
    f->latencies = (struct Latencies){0};
    f->code = make_code(1, 0x1000);
}

static void tear_down(struct Fixture *f)
{
    Code_free(f->code);
}

static void suspend(struct Fixture *f, uint32_t frame, uint64_t begin,
                    int64_t ran)
{
    const struct CallPart part = {begin, 0, ran, frame, true};

    Latency_note(&f->latencies, f->code, &part);
}

static void end(struct Fixture *f, uint32_t frame, uint64_t begin, int64_t ran,
                uint64_t ticks)
{
    const struct CallPart part = {begin, ticks, ran, frame, false};

    Latency_note(&f->latencies, f->code, &part);
}

static const struct Latency *look(struct Fixture *f)
{
    Latency_look(&f->latencies);
    return Code_latency(f->code);
}

static bool sees(struct Fixture *f, uint32_t in_flight, uint64_t oldest)
{
    const struct Latency *latency = look(f);

    if (in_flight == 0)
        return latency->look != f->latencies.look;
    return latency->look == f->latencies.look &&
           latency->in_flight == in_flight && latency->oldest == oldest;
}

TEST_FIXTURE(test_code_that_runs_once_needs_no_memory)
{
    Counter_set(&f->code->hot.entries, 1);
    end(f, 1, 1000, 10, 2000);
    assert_null(Code_latency(f->code));
    Counter_set(&f->code->hot.entries, 2);
    end(f, 1, 3000, 10, 4500);
    assert_int_equal(Counter_get(&Code_latency(f->code)->longest), 1500);
}

// The calls end in another order than they begin, so the table changes often.
TEST_FIXTURE(test_many_calls_in_flight)
{
    enum { CALLS = 5000 };
    const struct Latency *latency;
    uint64_t wall = 0;
    unsigned i, at;

    for (i = 0; i < CALLS; i++)
        suspend(f, 1 + i * 64, 100 + i, 1);
    assert_true(sees(f, CALLS, 100));
    for (i = 0; i < CALLS; i++) {
        at = i * 1237 % CALLS;
        end(f, 1 + at * 64, 0, 1, 10000 + at);
        wall += 9900;
        if (i == CALLS / 2)
            assert_int_equal(look(f)->in_flight, CALLS - i - 1);
    }
    latency = Code_latency(f->code);
    assert_true(sees(f, 0, 0));
    assert_int_equal(Counter_get(&latency->wall), wall);
    assert_int_equal(Counter_get(&latency->ran), 2 * CALLS);
    assert_null(f->latencies.first);
}

// The end of a call was missed, and a new call uses the same frame.
TEST_FIXTURE(test_a_frame_that_is_used_again)
{
    suspend(f, 7, 1000, 1);
    suspend(f, 7, 6000, 1);
    assert_true(sees(f, 1, 6000));
    end(f, 7, 0, 1, 6500);
    assert_int_equal(Counter_get(&Code_latency(f->code)->longest), 500);
}

TEST_FIXTURE(test_a_function_goes_dark)
{
    suspend(f, 7, 1000, 1);
    suspend(f, 8, 1000, 1);
    Latency_cut(f->code);
    assert_true(sees(f, 0, 0));
    f->code->hot.dark = true;
    suspend(f, 7, 2000, 1); // The end of this call can be missed.
    f->code->hot.dark = false;
    end(f, 7, 0, 1, 6500);
    assert_int_equal(Counter_get(&Code_latency(f->code)->calls), 0);
    assert_int_equal(Counter_get(&Code_latency(f->code)->cut), 3);
}

// A call has ended, but Ocular does not know which one. The number of calls in
// flight is known again when a new call uses the frame of that call, or when
// all other calls have ended.
TEST_FIXTURE(test_an_end_that_was_not_seen)
{
    suspend(f, 7, 1000, 1);
    suspend(f, 8, 1100, 1);
    assert_true(sees(f, 2, 1000) && !look(f)->unsure);
    Latency_lose(f->code, 0);
    assert_true(look(f)->unsure);
    suspend(f, 7, 2000, 1);
    assert_true(sees(f, 2, 1100) && !look(f)->unsure);
    Latency_lose(f->code, 0);
    end(f, 7, 0, 1, 2500);
    assert_true(sees(f, 0, 0));
    assert_int_equal(Counter_get(&Code_latency(f->code)->cut), 2);
    assert_int_equal(Counter_get(&Code_latency(f->code)->longest), 500);
    assert_int_equal(Code_latency(f->code)->room, 0);
}

TEST_FIXTURE(test_a_function_that_is_freed)
{
    struct Code *other = make_code(2, 0x2000);
    const struct CallPart part = {1000, 0, 1, 9, true};

    suspend(f, 7, 1000, 1);
    Latency_note(&f->latencies, other, &part);
    Latency_forget(&f->latencies, other);
    Code_free(other);
    assert_true(sees(f, 1, 1000));
    Latency_forget(&f->latencies, f->code);
    assert_null(f->latencies.first);
}

static void end_slice(struct Fixture *f, double ends_a_second)
{
    Latency_allow(&f->latencies, ends_a_second, 1000);
    f->code->hot.dark = true;
    Latency_watch(&f->latencies, f->code, 5000);
}

// Ends a call. Returns true if the hook at the end of calls stays.
static bool stays(struct Fixture *f, uint32_t frame, uint64_t begin,
                  uint64_t ticks)
{
    const struct CallPart part = {begin, ticks, 1, frame, false};

    return Latency_note(&f->latencies, f->code, &part);
}

static bool stays_at_yield(struct Fixture *f, uint32_t frame, uint64_t begin)
{
    const struct CallPart part = {begin, 5500, 1, frame, true};

    return Latency_note(&f->latencies, f->code, &part);
}

TEST_FIXTURE(test_calls_end_after_the_slice)
{
    f->code->hot.running++;
    suspend(f, 7, 1000, 1);
    f->code->hot.running++; // A call that is suspended after the slice.
    f->code->hot.running++; // A call that is never suspended.
    end_slice(f, 100);
    assert_true(f->code->hot.watched);
    assert_true(stays_at_yield(f, 8, 2000));
    assert_true(sees(f, 2, 1000));
    assert_true(stays(f, 9, 3000, 6000));
    // All calls that began in the slice are suspended or have ended.
    assert_false(stays_at_yield(f, 7, 0));
    assert_true(f->code->hot.watched);
    assert_true(stays(f, 7, 0, 8000));
    assert_false(stays(f, 8, 0, 9500));
    assert_false(f->code->hot.watched);
    assert_int_equal(Counter_get(&Code_latency(f->code)->calls), 3);
    assert_int_equal(Counter_get(&Code_latency(f->code)->longest), 7500);
    assert_int_equal(Counter_get(&Code_latency(f->code)->cut), 0);
}

// The hooks also see the ends of calls that began after the slice, which costs
// time. If a function has too many such calls, it loses these hooks.
TEST_FIXTURE(test_ends_of_other_calls)
{
    uint64_t ticks = 5000;
    unsigned i;

    f->code->hot.running++;
    suspend(f, 7, 1000, 1);
    f->code->who.own = true;
    end_slice(f, 200);
    for (i = 0; i < 1000; i++) // a hundred ends a second
        assert_true(stays(f, 8, 0, ticks += 10));
    for (i = 0; i < 500 && stays(f, 8, 0, ticks); i++) // all at once
        ;
    assert_in_range(i, 28, 128);
    assert_false(f->code->hot.watched);
    assert_int_equal(Counter_get(&Code_latency(f->code)->cut), 1);
    assert_true(sees(f, 0, 0));
}

// Functions of libraries may cost a quarter of what the program's own functions
// may cost.
TEST_FIXTURE(test_the_means_for_ends_of_other_calls)
{
    unsigned i;

    for (unsigned own = 0; own < 2; own++) {
        f->code->who.own = own;
        f->code->hot.dark = false;
        f->code->hot.running++;
        suspend(f, 7, 1000, 1);
        end_slice(f, 20);
        for (i = 0; stays(f, 8, 0, 5000); i++)
            ;
        assert_int_equal(i, own ? 40 : 10); // The ends of two seconds.
    }
}

TEST_FIXTURE(test_ends_that_have_no_event)
{
    f->code->hot.running++;
    suspend(f, 7, 1000, 1);
    end_slice(f, 100);
    f->latencies.unwinds++; // PY_UNWIND is switched off.
    assert_false(Latency_sees_ends(&f->latencies, f->code));
    assert_true(sees(f, 0, 0)); // Its end would be missed.
    assert_false(stays(f, 7, 0, 6000));
    assert_int_equal(Counter_get(&Code_latency(f->code)->calls), 0);
    Latency_watch(&f->latencies, f->code, 6000);
    assert_false(f->code->hot.watched);
    f->latencies.unwinds++;
    Latency_watch(&f->latencies, f->code, 6000);
    assert_true(f->code->hot.watched);
}

// The clock has 1000 ticks a second.
TEST_FIXTURE(test_calls_by_their_latencies)
{
    static const uint64_t WALLS[] = {1, 2, 3, 250, 251, 60000, 60001};
    static const unsigned AT[] = {0, 1, 2, 7, 8, 14, 15};
    const struct LatencyTotals *totals;

    assert_false(Latency_count(f->code, 1000)); // No call was timed.
    Counter_set(&f->code->hot.entries, 2);
    end(f, 1, 1000, 1, 1007);
    f->code->hot.touched = false;
    assert_true(Latency_count(f->code, 1000) && f->code->hot.touched);
    totals = Latency_totals(Code_latency(f->code));
    assert_true(Latency_count(f->code, 1)); // Another viewer has asked.
    for (unsigned i = 0; i < 70000; i++)
        end(f, 1, 1000, 1, 1000 + WALLS[i % 7]);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(Counter_get(&totals->of[AT[i]]), 10000);
    assert_int_equal(Counter_get(&Code_latency(f->code)->wall) -
                         totals->wall_before,
                     120508 * UINT64_C(10000));
    suspend(f, 7, 1000, 1);
    suspend(f, 7, 2000, 1); // The end of the first call was missed.
    suspend(f, 8, 2000, 1);
    Latency_cut(f->code);
    Latency_lose(f->code, 3000);
    assert_int_equal(Counter_get(&totals->missed), 4);
}

TEST_FIXTURE(test_a_latency_that_changes)
{
    static const double HALF = 0.5;
    double median;
    unsigned i;

    Counter_set(&f->code->hot.entries, 2);
    for (i = 0; i < 100000; i++)
        end(f, 1, 1000, 1, 1000 + 1600);
    for (i = 0; i < 3000; i++)
        end(f, 1, 1000, 1, 1000 + 160000);
    Histogram_quantiles(&Code_latency(f->code)->walls, &HALF, &median, 1);
    assert_true(median > 9000 && median < 11000);
}
