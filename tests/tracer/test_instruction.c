// SPDX-License-Identifier: MIT
// Tests tracer/code/instruction in precise mode. In the random
// programs an instruction always takes the same time, and every counter must
// contain exactly this time.
#include "tracer/code/instruction.h"

#include "tracer/code/precise.h"
#include "tracer/hook/thread_trace_block.h"
#include "tracer/hook/thread_trace_call.h"
#include "tracer/session/engine.h"

#include "tests/unit.h"

#include "tests/tracer/make_function.h"

// Ticks that a hook takes.
static const int64_t COST[HOOK_KINDS] = {[HOOK_ENTER] = 10,
                                         [HOOK_LEAVE] = 20,
                                         [HOOK_JUMP] = 5,
                                         [HOOK_INSTRUCTION] = 30,
                                         [HOOK_INSTRUCTION + HOOK_FAR] = 50};

struct Fixture {
    struct Engine engine;
    struct ThreadTrace *trace;
};

enum { // The numbers of the instructions in PROGRAM.
    I_RESUME,
    I_LOAD,
    I_GET_ITER,
    I_FOR_ITER,
    I_STORE,
    I_TEST,
    I_BRANCH,
    I_CALL, // This instruction can raise an exception.
    I_AFTER_CALL,
    I_JOIN,
    I_LOOP,
    I_END_FOR,
    I_POP,
    I_LOAD_LAST,
    I_RETURN,
    I_HANDLER,
    I_MATCH,
    I_OTHERWISE,
    I_GO_ON, // Jumps to I_JOIN.
    I_RERAISE,
    COUNT
};

// clang-format off
static const uint8_t PROGRAM[] = {
    RESUME, 0,                      // unit 0
    LOAD_FAST, 0,                   // 1
    GET_ITER, 0,                    // 2
    FOR_ITER, 10, CACHE, 0,         // 3, to 15
    STORE_FAST, 0,                  // 5
    LOAD_FAST, 0,                   // 6
    POP_JUMP_IF_FALSE, 3, CACHE, 0, // 7, to 12
    BINARY_OP, 0, CACHE, 0,         // 9
    STORE_FAST, 0,                  // 11
    LOAD_FAST, 0,                   // 12
    JUMP_BACKWARD, 12, CACHE, 0,    // 13, to 3
    END_FOR, 0,                     // 15
    POP_TOP, 0,                     // 16
    LOAD_FAST, 0,                   // 17
    RETURN_VALUE, 0,                // 18
    PUSH_EXC_INFO, 0,               // 19
    POP_TOP, 0,                     // 20
    POP_JUMP_IF_FALSE, 2, CACHE, 0, // 21, to 25
    JUMP_BACKWARD, 13, CACHE, 0,    // 23, to 12
    RAISE_VARARGS, 0,               // 25
};
// clang-format on

static struct Code *make(struct Fixture *f, const uint8_t *bytecode,
                         size_t size, uint64_t threshold)
{
    struct Engine *engine = &f->engine;
    struct Code *code = make_function(engine->registry, &engine->opcodes,
                                      bytecode, size, threshold);

    assert_int_equal(Code_make_precise(code, &engine->opcodes, threshold), 0);
    return code;
}

static struct Code *add(struct Fixture *f, uint64_t threshold)
{
    return make(f, PROGRAM, sizeof PROGRAM, threshold);
}

static bool step(struct Fixture *f, struct Code *code, unsigned number,
                 uint64_t ticks)
{
    return ThreadTrace_step(f->trace, code, (uint16_t)number, 1, ticks);
}

TEST_FIXTURE(test_damaged_code)
{
    unsigned seed = 4711;

    for (unsigned turn = 0; turn < 2000; turn++) {
        uint8_t bytes[64];
        size_t size = 2 * (turn % 32), i;
        struct Code *code;

        for (i = 0; i < size; i++) {
            seed = seed * 1664525 + 1013904223;
            bytes[i] = (uint8_t)((seed >> 24) % (i % 2 ? 256 : 18));
        }
        code = make(f, bytes, size, 1);
        for (i = 0; i < code->layout.instruction_count; i++) {
            const struct Instruction *at = &code->layout.instructions[i];

            assert_true(at->next < code->layout.instruction_count ||
                        at->next == INSTRUCTION_NONE);
            assert_true(at->other < code->layout.instruction_count ||
                        at->other == INSTRUCTION_NONE);
            assert_int_equal(at->next == INSTRUCTION_NONE,
                             at->other == INSTRUCTION_NONE);
        }
    }
}

struct Program {
    struct Fixture *f;
    struct Code *code, *callee;
    uint64_t ticks, threshold;
    // For each instruction, true if its event is disabled.
    bool off[COUNT];
    // True if the event at the beginning or at the end of a call is disabled.
    bool start_off, return_off;
    bool callee_off, callee_return; // True if the callee's events are disabled.
    uint64_t ran[COUNT];
    unsigned seed;
};

static unsigned chance(struct Program *p, unsigned of)
{
    p->seed = p->seed * 1664525 + 1013904223;
    return (p->seed >> 8) % of;
}

// Returns the ticks that an instruction takes. An instruction takes the same
// ticks in each run.
static uint64_t cost_of(unsigned number)
{
    return 3 + number * number;
}

static void run_callee(struct Program *p)
{
    struct ThreadTrace *trace = p->f->trace;

    p->ticks += 5; // Counts as time of the call (run_one).
    if (!p->callee_off) {
        p->callee_off =
            ThreadTrace_enter(trace, p->callee, 2, I_RESUME, p->ticks);
        p->ticks += (uint64_t)COST[HOOK_ENTER];
    }
    p->ticks += 700;
    if (!p->callee_return) {
        p->callee_return = ThreadTrace_leave(
            trace, p->callee, Code_site(p->callee, 36), 2, p->ticks);
        p->ticks += (uint64_t)COST[HOOK_LEAVE];
    }
    p->ticks -= 5;
}

static void run_one(struct Program *p, unsigned number)
{
    bool fires = p->code->layout.instructions[number].flags & INSTRUCTION_FIRES;

    p->ran[number]++;
    if (chance(p, 50) == 0) { // Another thread ran.
        p->ticks += 100000;
        p->f->engine.contention.last_trace = p;
    }
    if (fires && !p->off[number]) {
        p->off[number] = step(p->f, p->code, number, p->ticks);
        p->ticks += (uint64_t)COST[HOOK_INSTRUCTION];
        if (p->off[number])
            p->ticks += 5000; // Removing the hook takes time.
    }
    if (number == I_CALL && chance(p, 3) == 0)
        run_callee(p);
    p->ticks += cost_of(number);
}

// Returns a random next instruction, or COUNT if an exception ends the frame.
static unsigned go_on(struct Program *p, unsigned number)
{
    const struct Instruction *at = &p->code->layout.instructions[number];

    if (number == I_CALL && chance(p, 4) == 0)
        return I_HANDLER;
    if (number == I_RERAISE)
        return COUNT;
    return chance(p, 2) ? at->next : at->other;
}

static void run_call(struct Program *p)
{
    struct ThreadTrace *trace = p->f->trace;
    unsigned number = I_RESUME;

    if (!p->start_off) {
        p->start_off = ThreadTrace_enter(trace, p->code, 1, I_RESUME, p->ticks);
        p->ticks += (uint64_t)COST[HOOK_ENTER];
    }
    while (number != COUNT) {
        run_one(p, number);
        if (number == I_RETURN)
            break;
        number = go_on(p, number);
    }
    if (number == I_RETURN && !p->return_off) {
        p->return_off = ThreadTrace_leave(trace, p->code,
                                          Code_site(p->code, 36), 1, p->ticks);
        p->ticks += (uint64_t)COST[HOOK_LEAVE];
    }
    p->ticks += 17; // Time of the caller.
}

static uint64_t run_random(struct Fixture *f, uint64_t threshold, unsigned seed)
{
    struct Program p = {.f = f, .threshold = threshold, .seed = seed};
    const struct Site *site;
    uint64_t timed = 0;

    p.code = add(f, threshold);
    p.callee = add(f, chance(&p, 2) ? 0 : 5);
    p.ticks =
        (uint64_t)f->trace->last + Counter_get(&f->trace->overhead) + 1000;
    for (int i = 0; i < 40; i++)
        run_call(&p);
    for (unsigned i = 0; i < COUNT; i++) {
        const struct Instruction *at = &p.code->layout.instructions[i];
        uint64_t ran = p.ran[i];

        if (!(at->flags & INSTRUCTION_FIRES))
            ran = 0;
        else if (threshold && ran > threshold)
            ran = threshold;
        assert_int_equal(Counter_get(&at->hits), ran);
        assert_int_equal(at->dark, threshold && ran == threshold);
        // The instruction's counter must contain exactly the instruction's own
        // time.
        assert_int_equal(Counter_get(&at->cycles),
                         Counter_get(&at->timed) * cost_of(i));
        assert_true(Counter_get(&at->timed) <= p.ran[i]);
        timed += Counter_get(&at->timed);
    }
    site = Code_site(p.code, 36);
    assert_int_equal(Counter_get(&site->cycles),
                     Counter_get(&site->instructions) * cost_of(I_RETURN));
    return timed;
}

TEST_FIXTURE(test_random_programs)
{
    static const uint64_t thresholds[] = {0, 1, 2, 5, 20, 100};
    uint64_t timed[6] = {0};

    for (unsigned seed = 0; seed < 1200; seed++)
        timed[seed % 6] += run_random(f, thresholds[seed % 6], seed);
    // Without a threshold, more instructions are timed than with a threshold.
    // With a threshold of one hit, no instruction is timed.
    for (unsigned i = 2; i < 6; i++)
        assert_true(timed[i] > 200 && timed[i] < timed[0]);
}

static void set_up(struct Fixture *f)
{
    assert_int_equal(Engine_init(&f->engine), 0);
    Clock_start(&f->engine.clock);
    // With so many ticks a second, no interval is long, so the kernel is never
    // asked whether the thread has waited.
    Contention_init(&f->engine.contention, 1e15);
    make_opcodes(&f->engine.opcodes);
    memcpy(f->engine.traces.cost, COST, sizeof COST);
    f->trace = ThreadTraces_add(&f->engine.traces, f->engine.registry,
                                &f->engine.contention, false, 0);
    assert_non_null(f->trace);
    f->engine.contention.last_trace = f->trace;
}

static void tear_down(struct Fixture *f)
{
    Engine_release(&f->engine);
}
