// SPDX-License-Identifier: MIT
// Tests tracer/sample/attribution. The tests check which functions get the time
// of a stack if it ends in retired code, in C code, in a garbage collection or
// between two frames.
#include "ipc/base/heap.h"
#include "tracer/code/c_calls.h"
#include "tracer/sample/attribution.h"

#include "tests/tracer/make_code.h"

#include "tests/unit.h"

#define BYTECODE 0x40 // Bytes before the bytecode in a code object.

static struct Registry *registry;
static struct Code *a, *b, *c, *caller;
static struct Opcodes opcodes;
static struct Memory memory;
static struct CallEdges edges;
static struct Flame flame;
static struct Breakdown functions; // The functions of one thread.
static struct SampledStack stack;
static struct LongCall call;
static struct Attribution attribution;
// In the samples' window, the program has used one core for one second.
static const struct ShareTime NOW = {.ns = 1e9, .age = 0.2, .full_ns = 1e9};

enum { CACHE, RESUME, LOAD, EXTENDED, CALL, JUMP, CALL_PY = 100, CALL_C };
enum { AT_RESUME, AT_LOAD, AT_EXTENDED, AT_CALL, AT_LAST = 6, AT_JUMP, UNITS };

// The bytecode of the caller, which changes while the tests run.
static uint8_t live[2 * UNITS];

static void make_caller(void)
{
    static const uint8_t bytecode[2 * UNITS] = {
        RESUME, 0, LOAD, 0, EXTENDED, 1, CALL, 0, 0, 0, 0, 0, 0, 0, JUMP, 0};
    static const uint16_t numbers[UNITS] = {0, 1, 2, 2, 2, 2, 2, 3};

    opcodes = (struct Opcodes){0};
    opcodes.flags[RESUME] = OPCODE_RESUME;
    opcodes.flags[EXTENDED] = OPCODE_EXTENDED;
    opcodes.flags[CALL] = OPCODE_CALL;
    opcodes.flags[JUMP] = OPCODE_JUMP | OPCODE_LOOP;
    opcodes.flags[CALL_PY] = OPCODE_CALL | OPCODE_PUSHES | OPCODE_VERSIONED;
    opcodes.flags[CALL_C] = OPCODE_CALL;
    memcpy(live, bytecode, sizeof live);
    caller = make_code(4, (uintptr_t)live - BYTECODE);
    caller->who.version = 80;
    caller->layout.unit_count = UNITS;
    caller->layout.units = Heap_zeroed(UNITS + 1, sizeof *caller->layout.units);
    caller->who.bytecode = Heap_alloc(sizeof bytecode);
    memcpy(caller->who.bytecode, bytecode, sizeof bytecode);
    for (int i = 0; i < UNITS; i++)
        caller->layout.units[i].number = numbers[i];
    Registry_add(registry, caller);
}

static void set_up(void)
{
    struct Code **codes[] = {&a, &b, &c};

    registry = Registry_new();
    for (uint32_t i = 0; i < 3; i++) {
        *codes[i] = make_code(i + 1, 0x1000 * (i + 1));
        (*codes[i])->who.version = 70 + i;
        Registry_add(registry, *codes[i]);
    }
    make_caller();
    memset(&edges, 0, sizeof edges);
    memset(&functions, 0, sizeof functions);
    memset(&stack, 0, sizeof stack);
    memset(&call, 0, sizeof call);
    Flame_init(&flame);
    attribution = (struct Attribution){.registry = registry,
                                       .opcodes = &opcodes,
                                       .memory = &memory,
                                       .edges = &edges,
                                       .flame = &flame,
                                       .code_bytecode = BYTECODE};
    stack.newest_id = 4;
    assert_int_equal(Memory_open(&memory), 0);
}

static void tear_down(void)
{
    Memory_close(&memory);
    Flame_release(&flame);
    Registry_free(registry);
}

#define STACK(...)                                                             \
    put((const uintptr_t[]){__VA_ARGS__},                                      \
        sizeof((uintptr_t[]){__VA_ARGS__}) / sizeof(uintptr_t))

static void put(const uintptr_t *codes, unsigned depth)
{
    stack.depth = depth;
    stack.call = &call;
    for (unsigned i = 0; i < depth; i++)
        stack.frames[i] = (struct WalkFrame){codes[i], codes[i]};
}

static double add(double cpu_ns, double wait_ns)
{
    return Attribution_add(&attribution, &stack, &NOW, &functions, cpu_ns,
                           wait_ns);
}

static void assert_ns(const struct Code *code, uint64_t cpu, uint64_t wait,
                      uint64_t cumulative)
{
    assert_int_equal(Counter_get(&code->share.cpu.total_ns), cpu);
    assert_int_equal(Counter_get(&Share_parts(&code->share)->wait.total_ns),
                     wait);
    assert_int_equal(
        Counter_get(&Share_parts(&code->share)->cumulative.total_ns),
        cumulative);
}

// The newest wait that the sink has received, and the number of waits.
static struct SampledWait reported;
static unsigned reported_count;

static void keep_wait(void *context, const struct SampledWait *wait, pid_t tid)
{
    (void)context;
    assert_int_equal(tid, 17);
    reported = *wait;
    reported_count++;
}

static double part_of(const struct ShareValue *kinds,
                      const struct ShareValue *whole, enum WaitKind kind)
{
    double shares[WAIT_KINDS];

    assert_true(ShareWaits_divide(kinds, whole, &NOW, shares));
    return shares[kind] * 1e9;
}

// Waits of an unknown kind are divided in the same ratio as waits of known
// kinds.
TEST_WITH(test_waits_are_divided_by_kind, set_up, tear_down)
{
    const struct ShareParts *own, *outer;
    const struct ShareWaits *waits;

    STACK(0x1000, 0x2000);
    add(10, 0);
    stack.wait_kind = WAIT_UNKNOWN;
    add(0, 100);
    // No memory is allocated until the kind of a wait is known.
    assert_null(Share_waits(&a->share));
    stack.wait_kind = WAITS_SOCKET;
    stack.kind_ns = 75;
    stack.starved_ns = 25;
    stack.starved = 0.25;
    add(0, 100);
    // A wait for a CPU never counts as a part of a call.
    assert_int_equal(Counter_get(&Share_parts(&a->share)->wait_to_run.total_ns),
                     25);
    STACK(0x3000, 0x2000);
    stack.wait_kind = WAITS_SLEEP;
    stack.kind_ns = 200;
    stack.starved_ns = stack.starved = 0;
    add(0, 200);
    own = Share_parts(&a->share);
    waits = Share_waits(&a->share);
    assert_float_equal(part_of(waits->own, &own->wait, WAITS_SOCKET), 150,
                       1e-6);
    assert_float_equal(part_of(waits->own, &own->wait, WAITS_CPU), 50, 1e-6);
    outer = Share_parts(&b->share);
    waits = Share_waits(&b->share);
    assert_float_equal(
        part_of(waits->total, &outer->cumulative_wait, WAITS_SOCKET), 100,
        1e-6);
    assert_float_equal(
        part_of(waits->total, &outer->cumulative_wait, WAITS_SLEEP), 800.0 / 3,
        1e-6);
    assert_int_equal(Counter_get(&waits->own[WAITS_SOCKET].total_ns), 0);
}

static void sum_waits(void *context, const struct SampledWait *wait, pid_t tid)
{
    (void)tid;
    *(double *)context += wait->ns + wait->starved_ns;
}

// 200 threads wait, and each of them is observed four times before it ends.
TEST_WITH(test_waits_of_threads_that_end, set_up, tear_down)
{
    enum { THREADS = 200, STEPS = 400, LIFE = 4 };
    static struct SampledStack stacks[THREADS];
    double sum = 0;

    attribution.sink = (struct SampleSink){.context = &sum, .wait = sum_waits};
    for (int step = 0; step < STEPS; step++) {
        WaitChoice_begin(&attribution.choice);
        for (int i = 0; i < THREADS; i++) {
            if ((step + i) % LIFE == 0)
                stacks[i] = (struct SampledStack){.newest_id = 4};
            stack = stacks[i];
            STACK(0x1000);
            add(0, 250e6);
            stacks[i] = stack;
        }
    }
    assert_float_equal(sum / (250e6 * THREADS * STEPS), 1, 0.05);
}

// A timed call takes 10 us.
TEST_WITH(test_a_call_that_hangs_is_one_call, set_up, tear_down)
{
    // The thread has waited for another `ns` ns. It has not run for `lasted`
    // ns, or has run meanwhile if this is 0.
    static const struct {
        double ns, lasted;
        bool to_run;
        uint64_t in_calls, count;
    } steps[] = {
        // The thread runs again and again, so these are waits in many calls.
        {50e6, 0, false, 0, 0},
        {50e6, 0, false, 50000000, 1},
        {4e6, 0, false, 104000000, 3},
        // The thread goes on waiting.
        {4e6, 8e6, false, 108000000, 4},
        {4e6, 12e6, false, 108000000, 4},
        {4e6, 0, false, 112000000, 5},
        // The first part of a long wait is not credited either.
        {30e6, 0, false, 112000000, 5},
        {30e6, 30e6, false, 112000000, 5},
        // A wait for the GIL is never a part of a call.
        {4e6, 0, true, 112000000, 5},
        {30e6, 0, false, 112000000, 5},
        {0, 0, false, 142000000, 6}, // The thread has ended.
    };
    const struct ShareParts *parts = Share_own_parts(&a->share);

    STACK(0x1000);
    Counter_set(&a->hot.self_calls, 100);
    Counter_set(&a->hot.waited_cycles, 100 * 10);
    attribution.hz = 1e6;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        Attribution_settle_wait(&attribution, &stack, &NOW, steps[i].lasted);
        stack.waits_to_run = steps[i].to_run;
        add(0, steps[i].ns);
        assert_int_equal(Counter_get(&parts->wait_in_calls.total_ns),
                         steps[i].in_calls);
        assert_int_equal(Counter_get(&parts->waits_in_calls), steps[i].count);
    }
}

// A timed call takes 10 us. Each sample has 60 ms of CPU time. In the fifth
// one, the tagged call has called another function. The third and the eighth
// one follow a moment at which the governor has tagged a call of the thread.
TEST_WITH(test_a_tagged_call_is_one_call, set_up, tear_down)
{
    static const uint8_t tags[] = {0, 0, 7, 7, 7, 7, 0, 0, 0, 8, 9};
    static const pid_t wanted[] = {0, 5, 0, 0, 0, 0, 5, 0, 5, 5, 5};
    static const uint64_t ms[] = {0,   0,   180, 240, 240, 300,
                                  300, 300, 300, 360, 420};
    struct Waker waker;
    struct LongCalls calls = {.governor = &waker};

    Waker_init(&waker);
    attribution.long_calls = &calls;
    attribution.hz = 1e6;
    c->hot.calls_exact = true;
    Counter_set(&a->hot.self_calls, 100);
    Counter_set(&a->hot.self_cycles, 100 * 10);
    stack.tid = 5;
    for (size_t i = 0; i < sizeof tags; i++) {
        STACK(0x3000, 0x1000);
        if (i != 4)
            STACK(0x1000);
        stack.tag = (struct WalkTag){i == 4, tags[i]};
        if (i == 2 || i == 7)
            calls.wanted[5] = 0;
        add(60e6, 0);
        assert_int_equal(calls.wanted[5], wanted[i]);
        assert_int_equal(
            Counter_get(&Share_parts(&a->share)->in_long_calls.total_ns),
            ms[i] * 1000000);
    }
    // The tagged call calls its own function five times, and each call is
    // short.
    STACK(0x1000, 0x1000);
    for (int i = 5; i >= 0; i--) {
        stack.tag = (struct WalkTag){i > 0, 9};
        add(60e6, 0);
    }
    assert_int_equal(
        Counter_get(&Share_parts(&a->share)->in_long_calls.total_ns),
        480 * 1000000);
    Waker_release(&waker);
}

// Each wait that is long enough for the recording goes to the sink.
TEST_WITH(test_the_sink_gets_waits, set_up, tear_down)
{
    attribution.sink.wait = keep_wait;
    reported_count = 0;
    stack.tid = 17;
    STACK(0x1000, 0x2000);
    stack.wait_kind = WAITS_SLEEP;
    stack.kind_ns = 40e6;
    stack.starved = 0.25;
    stack.starved_ns = 5e6;
    add(3e6, 0);
    assert_int_equal(reported_count, 0);
    add(0, 20e6);
    assert_int_equal(reported_count, 1);
    assert_int_equal(reported.depth, 2);
    assert_float_equal(reported.ns, 15e6, 1);
    assert_float_equal(reported.starved_ns, 5e6, 1);
    assert_int_equal(reported.drawn, WAITS_SLEEP);
    assert_float_equal(reported.kind_ns, 40e6, 1);
    assert_float_equal(reported.starved_weight_ns, 5e6, 1);
    // The flame graph shows the wait of an idle thread as idle.
    stack.idle = true;
    add(0, 20e6);
    assert_int_equal(reported.drawn, WAITS_IDLE);
    assert_int_equal(reported.kind, WAITS_SLEEP);
}

TEST_WITH(test_callers_of_dark_code_are_reported_once, set_up, tear_down)
{
    struct CallEdge edge;

    STACK(0x1000, 0x2000);
    for (int i = 0; i < 5; i++) // The hooks of a see its callers.
        add(10, 0);
    assert_false(CallEdges_pop(&edges, &edge));
    a->hot.dark = true;
    STACK(0x1000, 0x3000);
    add(10, 0); // One sample could be wrong.
    assert_false(CallEdges_pop(&edges, &edge));
    for (int i = 0; i < 5; i++) {
        STACK(0x1000, 0x3000);
        add(10, 0);
        STACK(0x1000, 0x2000);
        add(0, 10);
    }
    assert_true(CallEdges_pop(&edges, &edge));
    assert_true(edge.caller == c->hot.id && edge.callee == a->hot.id);
    assert_true(CallEdges_pop(&edges, &edge));
    assert_true(edge.caller == b->hot.id && edge.callee == a->hot.id);
    assert_false(CallEdges_pop(&edges, &edge));
}

// A thread that sleeps on is walked again only if its stack had unknown code,
// and only if the registry has grown.
TEST_WITH(test_a_stack_whose_code_came_later, set_up, tear_down)
{
    while (Registry_next_id(registry) < 10)
        ;
    stack.newest_id = Registry_newest_id(registry);
    STACK(0x1000, 0x5000);
    assert_false(Attribution_can_find_more(&attribution, &stack));
    Registry_add(registry, make_code(Registry_next_id(registry), 0x5000));
    assert_true(Attribution_can_find_more(&attribution, &stack));
    STACK(0x1000, 0x2000);
    assert_false(Attribution_can_find_more(&attribution, &stack));
}

// If allocation fails at a function's first sample, the next sample allocates
// again. No allocated memory leaks (make asan).
TEST_WITH(test_memory_is_out, set_up, tear_down)
{
    const void *samples;

    STACK(caller->who.address);
    add(100, 0);
    samples = Code_instruction_samples(caller);
    Heap_free(Share_parts(&caller->share)->callers);
    Share_own_parts(&caller->share)->callers = NULL;
    Heap_free(caller->share.callees);
    caller->share.callees = NULL;
    add(100, 0);
    assert_non_null(Share_parts(&caller->share)->callers);
    assert_non_null(caller->share.callees);
    assert_ptr_equal(Code_instruction_samples(caller), samples);
}

// Attributes a stack whose top frame is in `caller` at the code unit `unit`.
static void judge_at(unsigned unit, bool active)
{
    STACK(caller->who.address, 0x3000);
    stack.cut = false;
    stack.frames[0].instruction = (uintptr_t)live + 2 * unit;
    Attribution_judge(&attribution, &stack, active);
}

static void specialize(uint8_t opcode, uint32_t version)
{
    live[2 * AT_CALL] = opcode;
    memcpy(live + 2 * AT_CALL + 4, &version, sizeof version);
}

static void expect_calls(const struct Code *callee)
{
    assert_false(stack.in_c);
    assert_int_equal(stack.depth, callee ? 3 : 2);
    if (callee) {
        assert_int_equal(stack.frames[0].code, callee->who.address);
        assert_int_equal(stack.frames[0].instruction,
                         callee->who.address + BYTECODE);
    }
    assert_int_equal(stack.frames[callee ? 1 : 0].code, caller->who.address);
}

TEST_WITH(test_a_call_without_a_frame_is_in_c, set_up, tear_down)
{
    for (unsigned unit = 0; unit < UNITS; unit++) {
        judge_at(unit, true);
        assert_true(stack.in_c == (unit == AT_CALL));
        assert_int_equal(stack.depth, 2);
    }
    // The cache of a call of a C function contains no function version.
    specialize(CALL_C, 71);
    judge_at(AT_CALL, true);
    assert_true(stack.in_c);
    assert_int_equal(stack.depth, 2);
}

// A C function with a row of its own gets the samples of its calls. The
// caller's instruction keeps its samples, too, and has no Python callee.
TEST_WITH(test_a_c_function_gets_its_samples, set_up, tear_down)
{
    a->who.c_function = true;
    specialize(CALL_C, 0);
    CCalls_note(caller, AT_CALL, a->hot.id);
    judge_at(AT_LOAD, true);
    assert_int_equal(stack.depth, 2);
    judge_at(AT_CALL, true);
    assert_true(stack.in_c);
    assert_int_equal(stack.depth, 3);
    assert_true(add(100, 0) == 0);
    assert_ns(a, 100, 0, 100);
    assert_ns(caller, 0, 0, 100);
    assert_int_equal(Code_instruction_samples(caller)[2], 1);
    assert_int_equal(
        Code_instruction_samples(caller)[2 + Code_instruction_count(caller)],
        1);
    assert_int_equal(caller->share.callees[2], 0);
    // The C function was found only after the sample.
    stack.newest_id = 0;
    judge_at(AT_CALL, true);
    assert_int_equal(stack.depth, 2);
    // Now the instruction calls a Python function.
    stack.newest_id = 4;
    CCalls_note(caller, AT_CALL, 0);
    judge_at(AT_CALL, true);
    assert_int_equal(stack.depth, 2);
}

// A timed call of b takes ten times as long as an empty call. Of the time in
// which the frame of b is pushed or popped, b gets at most a tenth of its own
// time, and the caller gets the rest.
TEST_WITH(test_freeing_a_callees_locals_is_its_callers, set_up, tear_down)
{
    unsigned entered = 0;

    attribution.call_ticks = 10;
    Counter_set(&b->hot.self_calls, 20);
    Counter_set(&b->hot.self_cycles, 2000);
    specialize(CALL_PY, 71);
    STACK(b->who.address, caller->who.address);
    for (int i = 0; i < 90; i++)
        add(100, 0);
    for (int i = 0; i < 20; i++) {
        judge_at(AT_CALL, true);
        assert_false(stack.in_c);
        entered += stack.entering;
        assert_int_equal(stack.depth, stack.entering ? 3 : 2);
        add(100, 0);
    }
    // 10 of 100 samples, and the first one, count as samples of b.
    assert_in_range(entered, 10, 12);
    assert_ns(b, 9000 + 100 * entered, 0, 9000 + 100 * entered);
    assert_ns(caller, 2000 - 100 * entered, 0, 11000);
    // Now a call of b takes as long as an empty call.
    Counter_set(&b->hot.self_cycles, 200);
    judge_at(AT_CALL, true);
    expect_calls(b);
}

// If a sample comes just before the callee's frame is pushed or just after it
// is popped, the callee gets the time.
TEST_WITH(test_a_call_of_a_function_is_its_callees, set_up, tear_down)
{
    specialize(CALL_PY, 71);
    judge_at(AT_CALL, true);
    expect_calls(b);
    specialize(CALL_PY, 80); // The frame of this function is already pushed.
    judge_at(AT_CALL, true);
    expect_calls(NULL);
    specialize(CALL_PY, 999); // No function has this version.
    judge_at(AT_CALL, true);
    expect_calls(NULL);
    // No version is known. So the time goes to the callee that an earlier stack
    // has shown at this call instruction.
    STACK(0x1000, caller->who.address);
    stack.frames[1].instruction = (uintptr_t)live + 2 * AT_CALL;
    add(10, 0);
    judge_at(AT_CALL, true);
    expect_calls(a);
    // In CPython 3.12, the caller's instruction pointer is at the last inline
    // cache of the call while the callee returns.
    specialize(CALL, 0);
    judge_at(AT_CALL, true);
    assert_true(stack.in_c);
    judge_at(AT_LAST, true);
    expect_calls(a);
}
