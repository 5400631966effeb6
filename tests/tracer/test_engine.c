// SPDX-License-Identifier: MIT
// Tests tracer/session/engine. The tests check the effects of re-arming a
// function on its callers, on its quantiles and on open frames.
#include "tracer/session/engine.h"

#include "tracer/hook/thread_trace_call.h"

#include "tests/unit.h"

#include "tests/between.h"
#include "tests/tracer/make_function.h"
#include "tracer/code/means.h"

struct Fixture {
    struct Engine engine;
    struct ThreadTrace *trace;
    struct Code *caller, *callee;
};

static struct Code *add(struct Engine *engine)
{
    static const uint8_t bytecode[] = {RESUME, 0, RETURN_VALUE, 0};

    return make_function(engine->registry, &engine->opcodes, bytecode,
                         sizeof bytecode, 3);
}

static bool enter(struct Fixture *f, struct Code *code, uint32_t depth,
                  uint64_t ticks)
{
    return ThreadTrace_enter(f->trace, code, depth, 0, ticks);
}

static void leave(struct Fixture *f, struct Code *code, uint32_t depth,
                  uint64_t ticks)
{
    ThreadTrace_leave(f->trace, code, &code->layout.sites[1], depth, ticks);
}

// The caller's first call calls the callee three times, and the callee goes
// dark at the third call.
static void darken_callee(struct Fixture *f)
{
    enter(f, f->caller, 1, 100);
    for (unsigned i = 0; i < 3; i++) {
        enter(f, f->callee, 2, 200 + 100 * i);
        leave(f, f->callee, 2, 250 + 100 * i);
    }
    assert_true(f->callee->hot.dark);
    assert_int_equal(f->caller->hot.dark_callees, 1);
}

TEST_FIXTURE(test_rearm_clears_the_caller)
{
    uint16_t epoch;

    darken_callee(f);
    epoch = f->caller->hot.epoch;
    Engine_rearm(&f->engine, f->callee, 3, true);
    assert_false(f->callee->hot.dark);
    assert_int_equal(f->callee->hot.stop_at, 6);
    // `armed` tells the hooks that code was armed.
    assert_int_equal(f->engine.contention.armed, 1);
    assert_int_equal(f->caller->hot.dark_callees, 0);
    assert_int_not_equal(f->caller->hot.epoch, epoch);
    // Re-arming the callee a second time changes nothing, because the callee is
    // armed already.
    Engine_rearm(&f->engine, f->callee, 3, true);
    assert_int_equal(f->caller->hot.dark_callees, 0);
}

// Adds timed calls, and passes the sums to Code_note_recent at the time `s`.
static void run_more(struct Code *code, uint64_t calls, double s)
{
    for (uint64_t i = 0; i < calls; i++)
        Histogram_add(Code_histogram(code), 100);
    Counter_add(&code->hot.self_calls, calls);
    Code_note_recent(code, (uint64_t)(s * 1e9), 1e9);
}

// Each time the mark of the mean has moved, re-arming ages the quantiles once.
TEST_FIXTURE(test_rearm_ages_the_quantiles)
{
    struct Code *code = f->callee;
    uint64_t first;

    // After two calls the function has a histogram.
    for (unsigned i = 0; i < 2; i++) {
        enter(f, code, 2, 600 + 100 * i);
        leave(f, code, 2, 650 + 100 * i);
    }
    first = Histogram_count(Code_histogram(code));
    run_more(code, 2000, 40);
    Engine_rearm(&f->engine, code, 3, true);
    assert_int_equal(Histogram_count(Code_histogram(code)), first + 2000);
    run_more(code, 2000, 80); // The mean is now the mean of these calls.
    Engine_rearm(&f->engine, code, 3, true);
    assert_between(Histogram_count(Code_histogram(code)), 2000, 2001 + first);
    first = Histogram_count(Code_histogram(code));
    Engine_rearm(&f->engine, code, 3, true);
    run_more(code, 100, 120); // These calls are too few for a new mean.
    Engine_rearm(&f->engine, code, 3, true);
    assert_int_equal(Histogram_count(Code_histogram(code)), first + 100);
}

// If a function was dark during a call, the frame of the call is forgotten. The
// next end of a call finds no frame of this call, and counts nothing.
TEST_FIXTURE(test_open_frames_are_forgotten)
{
    uint64_t calls;

    enter(f, f->caller, 1, 100);
    for (unsigned i = 0; i < 3; i++)
        enter(f, f->callee, 2 + i, 200 + 100 * i);
    Engine_rearm(&f->engine, f->callee, 3, true);
    calls = Counter_get(&f->callee->hot.self_calls);
    leave(f, f->callee, 4, 1000);
    leave(f, f->callee, 3, 1100);
    leave(f, f->callee, 2, 1200);
    assert_int_equal(Counter_get(&f->callee->hot.self_calls), calls);
    assert_int_equal(Counter_get(&f->callee->hot.total_cycles), 0);
    // The caller's frame ends as usual, after 1300 - 100 ticks.
    leave(f, f->caller, 1, 1300);
    assert_int_equal(Counter_get(&f->caller->hot.total_cycles), 1200);
    assert_ptr_equal(f->trace->top, f->trace->bottom);
}

static void set_up(struct Fixture *f)
{
    assert_int_equal(Engine_init(&f->engine), 0);
    Clock_start(&f->engine.clock);
    make_opcodes(&f->engine.opcodes);
    f->trace = ThreadTraces_add(&f->engine.traces, f->engine.registry,
                                &f->engine.contention, false, 0);
    assert_non_null(f->trace);
    f->engine.contention.last_trace = f->trace;
    f->caller = add(&f->engine);
    f->callee = add(&f->engine);
}

static void tear_down(struct Fixture *f)
{
    Engine_release(&f->engine);
    assert_null(f->engine.registry);
}
