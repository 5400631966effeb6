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

TEST_FIXTURE(test_an_unknown_beginning)
{
    suspend(f, 7, 0, 20);
    end(f, 7, 0, 20, 5000);
    assert_null(Code_latency(f->code));
    suspend(f, 8, 1000, 1);
    end(f, 7, 0, 20, 5000);
    assert_int_equal(Counter_get(&Code_latency(f->code)->calls), 0);
    assert_true(sees(f, 1, 1000));
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

// The calls end in another order than they began, and the table changes often.
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

// The end of a call was missed, and a new call has the same frame.
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

// A call has ended, but it is unknown which one. The number of calls in flight
// is known again when the ended call's frame is used again, or when as many
// calls have ended.
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
