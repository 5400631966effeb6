// SPDX-License-Identifier: MIT
// Tests tracer/hook/thread_trace. The first tests make events with chosen
// ticks, so every expected value is known. The last tests run whole random
// programs and compare the results with a model of the programs.
#include "tracer/hook/thread_trace_block.h"
#include "tracer/hook/thread_trace_call.h"
#include "tracer/hook/thread_trace_garbage.h"

#include "tracer/code/arming.h"
#include "tracer/code/c_calls.h"

#include "tests/unit.h"

#include "tests/tracer/make_function.h"

// Costs in ticks of the hooks of an enter, a leave, a jump and a branch.
static const int64_t COST[HOOK_KINDS] = {
    [HOOK_ENTER] = 10, [HOOK_LEAVE] = 20, [HOOK_JUMP] = 5};
static const int64_t NOTHING[HOOK_KINDS];

struct Fixture {
    struct Registry *registry;
    struct Contention contention;
    struct Opcodes opcodes;
    struct ThreadTrace *trace;
};

// Starts a new trace in which hooks cost nothing.
static void reset(struct Fixture *f, uint64_t ticks)
{
    f->trace->cost = NOTHING;
    ThreadTrace_reset(f->trace, ticks);
}

static struct Code *make(struct Fixture *f, const uint8_t *bytecode,
                         size_t size, uint64_t threshold)
{
    return make_function(f->registry, &f->opcodes, bytecode, size, threshold);
}

static struct Code *add(struct Fixture *f, uint64_t threshold)
{
    return make(f, LOOP, sizeof LOOP, threshold);
}

// Each of these functions makes one event.
static bool enter(struct Fixture *f, struct Code *code, uint32_t depth,
                  uint64_t ticks)
{
    return ThreadTrace_enter(f->trace, code, depth, 0, ticks);
}

static bool leave(struct Fixture *f, struct Code *code, uint32_t depth,
                  uint64_t ticks)
{
    return ThreadTrace_leave(f->trace, code,
                             &code->layout.sites[code->layout.site_count - 1],
                             depth, ticks);
}

static bool raise_from(struct Fixture *f, struct Code *code, uint32_t depth,
                       uint64_t ticks)
{
    return ThreadTrace_leave(f->trace, code, NULL, depth, ticks);
}

static bool jump(struct Fixture *f, struct Code *code, uint32_t depth,
                 uint64_t ticks)
{
    return ThreadTrace_jump(f->trace, code, &code->layout.sites[JUMP_SITE], 1,
                            depth, ticks);
}

static void expect_empty(struct Fixture *f)
{
    assert_ptr_equal(f->trace->top, f->trace->bottom);
    for (unsigned i = 0; i < THREAD_TRACE_ACTIVE; i++)
        assert_int_equal(f->trace->active[i], 0);
}

// The time between two events can be shorter than the measured cost of a hook.
// The time without hooks would then be negative, so it counts as 0.
TEST_FIXTURE(test_hooks_that_cost_less_than_thought)
{
    struct Code *code = add(f, 0);

    enter(f, code, 1, 100);
    leave(f, code, 1, 104); // net 94.
    expect_calls(code, 1, 1, 0, 0);
    assert_int_equal(Counter_get(&code->hot.min_cycles), 0);
    assert_int_equal(
        (int64_t)Counter_get(&code->layout.sites[RETURN_SITE].cycles), -6);
    enter(f, code, 1, 200); // net 170.
    leave(f, code, 1, 260); // net 220.
    expect_calls(code, 2, 2, 50, 50);
    assert_int_equal(
        (int64_t)Counter_get(&code->layout.sites[RETURN_SITE].cycles), 44);
}

// If the program has several threads, an interval longer than the switch
// interval of the GIL counts as waiting, because another thread can have run.
TEST_FIXTURE(test_long_spans)
{
    struct Code *code = add(f, 0);

    reset(f, 0);
    Contention_share(&f->contention, 100 / 1e15);
    enter(f, code, 1, 1000);
    // This interval is just as long as the switch interval.
    jump(f, code, 1, 1100);
    jump(f, code, 1, 1201);
    leave(f, code, 1, 1210);
    expect_calls(code, 1, 1, 109, 210);
    assert_int_equal(Counter_get(&code->hot.waited_cycles), 101);
    // According to the kernel, the thread ran in a part of the interval. If
    // only a brief time is missing, the thread ran in all of it.
    enter(f, code, 1, 1300);
    f->trace->spent.ran = 500;
    jump(f, code, 1, 2000);
    f->trace->spent.ran = 450;
    leave(f, code, 1, 2500);
    assert_int_equal(Counter_get(&code->hot.self_cycles), 109 + 500 + 500);
    assert_int_equal(Counter_get(&code->hot.waited_cycles), 101 + 200);
    // If the program has only one thread, intervals can be long.
    Contention_share(&f->contention, 0);
    enter(f, code, 1, 3000);
    leave(f, code, 1, 10000);
    assert_int_equal(Counter_get(&code->hot.waited_cycles), 101 + 200);
    assert_int_equal(Counter_get(&code->hot.min_cycles), 7000);
}

// When a slice ends, the hooks at the starts of calls are removed. Ocular still
// sees the ends of calls that began in the slice.
TEST_FIXTURE(test_the_end_of_a_slice)
{
    struct Code *code = add(f, 100);
    struct Latencies *latencies = &f->trace->registry->latencies;

    code->who.own = true;
    Latency_allow(latencies, 1e9, 1e9);
    reset(f, 0);
    for (uint64_t i = 0; i < 2; i++) {
        enter(f, code, 1, 100 + 100 * i);
        leave(f, code, 1, 150 + 100 * i);
    }
    enter(f, code, 1, 1000);
    enter(f, code, 2, 1100);
    Code_end_slice(code);
    assert_true(enter(f, code, 3, 1200)); // The hook returns DISABLE.
    assert_true(code->hot.dark && code->hot.watched);
    assert_true(enter(f, code, 4, 1300)); // Also removed.
    assert_false(leave(f, code, 4, 1400));
    assert_false(leave(f, code, 3, 1500));
    assert_false(raise_from(f, code, 2, 1600));
    Latency_look(latencies);
    ThreadTrace_look(f->trace);
    assert_int_equal(Code_latency(code)->look, latencies->look);
    assert_int_equal(Code_latency(code)->in_flight, 1);
    assert_int_equal(Code_latency(code)->oldest, 1000);
    assert_true(leave(f, code, 1, 9000)); // The last call has ended.
    assert_false(code->hot.watched);
    assert_int_equal(code->hot.running, 0);
    assert_int_equal(Counter_get(&Code_latency(code)->calls), 4);
    assert_int_equal(Counter_get(&Code_latency(code)->longest), 8000);
    assert_int_equal(Counter_get(&Code_latency(code)->cut), 0);
    expect_empty(f);
}

struct ModelFrame {
    unsigned function;
    int64_t enter, self;
};

enum { FUNCTIONS = 6, MODEL_DEPTH = 400 };

struct Model {
    struct ModelFrame frames[MODEL_DEPTH + 1];
    unsigned depth;
    int64_t net; // Time of the program without the time of hooks.
    uint64_t overhead;
    struct {
        uint64_t calls, self, total, min, jumps, ends;
    } functions[FUNCTIONS];
};

// Lets some time pass in the innermost function, and then runs a hook.
static uint64_t model_step(struct Model *model, enum HookKind kind)
{
    int64_t span = 1 + lrand48() % 50;
    uint64_t ticks;

    model->net += span;
    model->frames[model->depth].self += span;
    ticks = (uint64_t)model->net + model->overhead;
    model->overhead += (uint64_t)COST[kind];
    return ticks;
}

static void model_end(struct Model *model)
{
    const struct ModelFrame *frame = &model->frames[model->depth--];
    unsigned d, n = frame->function;
    uint64_t self = (uint64_t)frame->self;

    model->functions[n].ends++;
    model->functions[n].self += self;
    if (self < model->functions[n].min)
        model->functions[n].min = self;
    for (d = 1; d <= model->depth && model->frames[d].function != n; d++)
        ;
    if (d > model->depth)
        model->functions[n].total += (uint64_t)(model->net - frame->enter);
}

static void model_turn(struct Fixture *f, struct Model *model,
                       struct Code *const codes[FUNCTIONS], bool ending)
{
    unsigned depth = model->depth, n;
    long choice = ending ? 90 : lrand48() % 100;

    if (depth == 0 || (choice < 40 && depth < MODEL_DEPTH)) {
        n = (unsigned)(lrand48() % FUNCTIONS);
        enter(f, codes[n], depth + 1, model_step(model, HOOK_ENTER));
        model->functions[n].calls++;
        model->frames[++model->depth] = (struct ModelFrame){n, model->net, 0};
        return;
    }
    n = model->frames[depth].function;
    if (choice < 65) {
        jump(f, codes[n], depth, model_step(model, HOOK_JUMP));
        model->functions[n].jumps++;
    } else if (choice < 75) {
        raise_from(f, codes[n], depth, model_step(model, HOOK_LEAVE));
        model_end(model);
    } else {
        leave(f, codes[n], depth, model_step(model, HOOK_LEAVE));
        model_end(model);
    }
}

static void run_c(struct Fixture *f, struct Code *caller,
                  const struct Code *function, enum HitKind kind,
                  uint64_t ticks)
{
    const struct Hit hit = {ticks, Hit_who(caller->who.address, kind),
                            Hit_where(1, 1, function->hot.id)};

    CCalls_note(caller, 1, function->hot.id);
    ThreadTrace_run_c(f->trace, caller, &hit, 1);
}

// If a window of counting C calls ends during a call of a C function, the end
// of this call is not reported.
TEST_FIXTURE(test_a_c_function_whose_end_is_lost)
{
    struct Code *callee = add(f, 500), *sleep = add(f, 500);
    struct Code *other = add(f, 500), *caller;

    sleep->who.c_function = other->who.c_function = true;
    sleep->hot.calls_exact = other->hot.calls_exact = false;
    for (int framed = 1; framed >= 0; framed--) {
        ThreadTrace_reset(f->trace, 0);
        caller = add(f, 500);
        if (framed)
            enter(f, caller, 1, 0);
        CCalls_prepare(caller);
        // While the window is open, C code may call Python code.
        run_c(f, caller, sleep, HIT_C_BEGIN, 100);
        enter(f, callee, 2, 200);
        assert_ptr_equal(f->trace->top[-1].code, sleep);
        leave(f, callee, 2, 300);
        // Another call begins in the same function.
        run_c(f, caller, other, HIT_C_BEGIN, 400);
        assert_int_equal(f->trace->top - f->trace->bottom, 1 + framed);
        CCalls_close(caller, 1, 500);
        enter(f, callee, 2, 600);
        assert_ptr_not_equal(f->trace->top[-1].code, other);
        assert_int_equal(f->trace->top - f->trace->bottom, 1 + framed);
    }
}

TEST_FIXTURE(test_random_programs)
{
    struct Model *model = calloc(1, sizeof *model);
    struct Code *codes[FUNCTIONS];

    srand48(1);
    for (unsigned n = 0; n < FUNCTIONS; n++) {
        codes[n] = add(f, 0);
        model->functions[n].min = UINT64_MAX;
    }
    for (int i = 0; i < 200000; i++)
        model_turn(f, model, codes, false);
    while (model->depth)
        model_turn(f, model, codes, true);
    for (unsigned n = 0; n < FUNCTIONS; n++) {
        const struct Code *code = codes[n];

        expect_calls(code, model->functions[n].calls, model->functions[n].ends,
                     model->functions[n].self, model->functions[n].total);
        assert_int_equal(Counter_get(&code->hot.min_cycles),
                         model->functions[n].min);
        assert_int_equal(Counter_get(&code->layout.sites[JUMP_SITE].hits),
                         model->functions[n].jumps);
        assert_int_equal(Histogram_count(Code_histogram(code)),
                         model->functions[n].ends);
    }
    assert_int_equal(Counter_get(&f->trace->overhead), model->overhead);
    assert_int_equal(Counter_get(&f->trace->unwound), 0);
    expect_empty(f);
    free(model);
}

static void set_up(struct Fixture *f)
{
    make_opcodes(&f->opcodes);
    f->registry = Registry_new();
    // The clock is so fast that no interval between events is long, so the
    // kernel is never asked about a wait.
    Contention_init(&f->contention, 1e15);
    f->trace = ThreadTrace_new(f->registry, &f->contention, COST);
    assert_non_null(f->trace);
    ThreadTrace_reset(f->trace, 0);
    f->contention.last_trace = f->trace;
}

static void tear_down(struct Fixture *f)
{
    ThreadTrace_free(f->trace);
    Registry_free(f->registry);
}
