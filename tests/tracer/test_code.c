// SPDX-License-Identifier: MIT
// Tests tracer/code/code. The tests check odd bytecode, callers, re-arming, and
// values that are computed from counters.
#include "tracer/code/code.h"

#include "tests/tracer/make_opcodes.h"
#include "tracer/code/arming.h"
#include "tracer/code/links.h"
#include "tracer/code/means.h"

#include <math.h>

#define OWN_MAIN
#include "tests/unit.h"

static struct Opcodes opcodes;

// A generator with a loop and a condition, which has every kind of site, inline
// caches, and an instruction with a prefix.
// clang-format off
static const uint8_t GENERATOR[] = {
    RESUME, 0,            // unit 0
    LOAD_FAST, 0,         // 1
    GET_ITER, 0,          // 2
    FOR_ITER, 9, CACHE, 0,          // 3
    STORE_FAST, 1,                  // 5
    LOAD_FAST, 1,                   // 6
    POP_JUMP_IF_FALSE, 4, CACHE, 0, // 7
    EXTENDED_ARG, 1,      // 9
    YIELD_VALUE, 0,       // 10
    RESUME, 1,            // 11
    JUMP_BACKWARD, 11, CACHE, 0, // 12
    END_FOR, 0,           // 14
    RETURN_VALUE, 0,      // 15
};
// clang-format on

enum { UNITS = sizeof GENERATOR / 2 };

static struct CodeSource source_of(const uint8_t *bytecode, size_t size)
{
    return (struct CodeSource){
        .address = 0x7f00,
        .name = "Class.method",
        .file = "/app/module.py",
        .line = 42,
        .bytecode = bytecode,
        .bytecode_size = size,
        .line_table = (const uint8_t *)"\x80\x01",
        .line_table_size = 2,
    };
}

static struct Code *code_of(const uint8_t *bytecode, size_t size,
                            uint64_t threshold, bool two_arms)
{
    struct CodeSource source = source_of(bytecode, size);
    struct Code *code = Code_new(7, &source, &opcodes, threshold, two_arms);

    assert_non_null(code);
    return code;
}

static struct Code *generator(uint64_t threshold, bool two_arms)
{
    return code_of(GENERATOR, sizeof GENERATOR, threshold, two_arms);
}

// Within a budget, the program's own functions are armed before functions of
// libraries.
TEST(test_whose_code_it_is)
{
    static const struct {
        const char *file;
        bool own;
    } files[] = {{"/srv/app/views.py", true},
                 {"views.py", true},
                 {"/srv/env/lib/python3.13/site-packages/x/y.py", false},
                 {"/opt/site-packages/y.py", false},
                 {"/usr/share/dist-packages/y.py", false},
                 {"/usr/lib/python3.12/json/decoder.py", false},
                 {"<frozen importlib._bootstrap>", false}};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct CodeSource source = source_of(GENERATOR, sizeof GENERATOR);
        struct Code *code;

        source.file = files[i].file;
        code = Code_new(7, &source, &opcodes, 500, false);
        assert_non_null(code);
        assert_true(code->who.own == files[i].own);
        Code_free(code);
    }
}

// In this code the offsets of code unit 11 and of all later units are far
// (HOOK_FAR).
TEST(test_what_hooks_cost_is_known_by_site)
{
    static const struct {
        unsigned unit;
        unsigned of_function, of_generator;
    } expected[] = {
        {3, HOOK_JUMP, HOOK_JUMP},
        {7, HOOK_JUMP, HOOK_JUMP},
        {10, HOOK_LEAVE, HOOK_YIELD},
        {12, HOOK_JUMP + HOOK_FAR, HOOK_JUMP + HOOK_FAR},
        {15, HOOK_LEAVE + HOOK_FAR, HOOK_YIELD + HOOK_FAR},
    };
    struct Opcodes near = opcodes;
    struct CodeSource source = source_of(GENERATOR, sizeof GENERATOR);
    struct Code *function, *generator;

    near.far_unit = 11;
    function = Code_new(7, &source, &near, 500, false);
    source.suspends = true;
    generator = Code_new(8, &source, &near, 500, false);
    assert_non_null(function);
    assert_non_null(generator);
    assert_int_equal(function->hot.enter_hook, HOOK_ENTER);
    assert_int_equal(generator->hot.enter_hook, HOOK_RESUME);
    assert_int_equal(Code_leave_hook(function), HOOK_LEAVE);
    assert_int_equal(Code_leave_hook(generator), HOOK_YIELD);
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
        size_t offset = 2 * expected[i].unit;

        assert_int_equal(Code_site(function, offset)->hook,
                         expected[i].of_function);
        assert_int_equal(Code_site(generator, offset)->hook,
                         expected[i].of_generator);
    }
    Code_free(function);
    Code_free(generator);
}

TEST(test_odd_sizes)
{
    // The inline cache of FOR_ITER is missing.
    const uint8_t cut[] = {RESUME, 0, FOR_ITER, 1};
    const uint8_t odd[] = {RESUME, 0, RETURN_VALUE};
    struct Code *code = code_of(cut, 0, 500, false);

    assert_int_equal(code->layout.site_count, 0);
    assert_null(Code_site(code, 0));
    Code_free(code);
    code = code_of(cut, sizeof cut, 500, true);
    assert_int_equal(code->layout.site_count, 3);
    assert_int_equal(code->layout.units[1].number, 1);
    Code_free(code);
    code = code_of(odd, sizeof odd, 500, false);
    assert_int_equal(code->layout.unit_count, 1);
    assert_int_equal(code->layout.site_count, 1);
    Code_free(code);
}

// The code has more units than the number in a site can count, and more sites
// than the map can hold. Units beyond these limits have no site, and no number
// wraps around.
TEST(test_huge_code)
{
    enum { COUNT = 70000 };
    uint8_t *bytecode = malloc(2 * COUNT);
    struct Code *code;

    for (size_t i = 0; i < COUNT; i++) {
        bytecode[2 * i] = JUMP_FORWARD;
        bytecode[2 * i + 1] = 0;
    }
    code = code_of(bytecode, 2 * COUNT, 500, false);
    assert_int_equal(code->layout.site_count, UINT16_MAX);
    assert_int_equal(Code_site(code, 0)->unit, 0);
    assert_int_equal(Code_site(code, 2 * (UINT16_MAX - 1))->unit,
                     UINT16_MAX - 1);
    assert_null(Code_site(code, 2 * UINT16_MAX));
    assert_null(Code_site(code, 2 * (COUNT - 1)));
    Code_free(code);

    for (size_t i = 0; i < COUNT; i++)
        bytecode[2 * i] = i % 2 ? CACHE : POP_JUMP_IF_FALSE;
    // 32768 branches, each with two arms
    code = code_of(bytecode, 2 * COUNT, 500, true);
    assert_int_equal(code->layout.site_count, UINT16_MAX - 1);
    assert_int_equal(Code_site(code, 4)->unit, 2);
    Code_free(code);
    free(bytecode);
}

// Code that never goes dark can get new callers without end.
TEST(test_callers_of_the_never_dark_are_bounded)
{
    struct Code *code = generator(0, false);

    for (uint32_t i = 1; i <= 64; i++)
        assert_int_equal(Code_add_caller(code, i), 1);
    for (uint32_t i = 65; i <= 1000; i++)
        assert_int_equal(Code_add_caller(code, i), 0);
    assert_int_equal(code->links.caller_count, 64);
    Code_free(code);
}

// The epoch changes when the first callee goes dark, and again when no callee
// is dark any more. A call in which callees went dark and were armed again
// therefore begins and ends in different epochs, and does not count as a call
// without dark callees.
TEST(test_epoch_marks_dark_spells)
{
    struct Code *code = generator(500, false);
    uint16_t epoch = code->hot.epoch;

    Code_gain_dark_callee(code);
    assert_int_equal(code->hot.epoch, epoch + 1);
    Code_gain_dark_callee(code);
    assert_int_equal(code->hot.epoch, epoch + 1);
    Code_lose_dark_callee(code);
    assert_int_equal(code->hot.epoch, epoch + 1);
    assert_int_equal(code->hot.dark_callees, 1);
    Code_lose_dark_callee(code);
    assert_int_equal(code->hot.epoch, epoch + 2);
    // One ended call too many does not make the number of dark callees
    // negative.
    Code_lose_dark_callee(code);
    assert_int_equal(code->hot.dark_callees, 0);
    assert_int_equal(code->hot.epoch, epoch + 2);
    Code_free(code);
}

// The times of blocks are right only in frames of the current epoch.
static void expect_epochs(const struct Code *code, bool blocks)
{
    assert_int_not_equal(code->hot.epoch, 0);
    assert_int_equal(code->hot.block_epoch, blocks ? code->hot.epoch : 0);
}

// Epoch 0 would be equal to the value that means "no epoch".
TEST(test_the_epoch_wraps_to_one)
{
    struct Code *code = generator(500, false);

    for (int i = 0; i < UINT16_MAX + 10; i++) {
        Code_rearm(code, 500, true, 0);
        assert_int_not_equal(code->hot.epoch, 0);
    }
    expect_epochs(code, true);
    Code_free(code);
}

TEST(test_a_dark_jump_breaks_blocks)
{
    struct Code *code = generator(500, false);

    // The site is redundant, so no event is missed.
    Code_darken_site(code, &code->layout.sites[1]);
    assert_int_equal(code->layout.sites[1].dark, 1);
    assert_true(code->hot.exact);
    expect_epochs(code, true);
    Code_darken_site(code, &code->layout.sites[5]);
    assert_int_equal(code->layout.sites[5].dark, 1);
    assert_false(code->hot.exact);
    assert_true(code->hot.calls_exact);
    expect_epochs(code, false);
    Code_rearm(code, 500, true, 0);
    expect_epochs(code, true);
    assert_false(code->hot.exact);
    Code_free(code);
}

TEST(test_end_of_a_slice)
{
    struct Code *code = generator(500, false);
    struct Site *jump = Code_site(code, 24);
    uint16_t epoch = code->hot.epoch;

    Code_arm(code, 500, true);
    Code_end_slice(code);
    assert_true(code->spans.ended);
    // The function goes dark at its next call.
    assert_int_equal(code->hot.stop_at, 0);
    assert_int_equal(jump->stop_at, 0);
    // Calls that have not ended are not timed.
    assert_int_not_equal(code->hot.epoch, epoch);
    code->spans.ended = false;
    Code_arm(code, 0, true);
    Code_end_slice(code); // The function is armed forever.
    assert_false(code->spans.ended);
    assert_true(code->hot.stop_at == CODE_NEVER);
    Code_free(code);
}

TEST(test_mean_takes_waits_in)
{
    struct Code *code = generator(500, false);

    assert_true(isnan(Code_mean_cycles(code)));
    Counter_set(&code->hot.self_calls, 4);
    Counter_set(&code->hot.self_cycles, 1000);
    Counter_set(&code->hot.waited_cycles, 200);
    assert_true(Code_mean_cycles(code) == 300);
    // A quarter of the waiting time is the function's own.
    Counter_set(&Share_own_parts(&code->share)->wait.total_ns, 400);
    Counter_set(&Share_own_parts(&code->share)->wait_to_run.total_ns, 300);
    assert_float_equal(Code_mean_cycles(code), 262.5, 1e-9);
    Code_free(code);
}

// A call takes 3000 ticks at 2 GHz, which are 1500 ns. Since the function went
// dark, samples found it running for 9 ms and waiting for 6 ms. The estimate is
// 15 ms / 1500 ns = 10000 calls.
TEST(test_dark_calls_are_sampled_time_by_mean)
{
    struct Code *code = generator(500, false);

    assert_true(Code_dark_calls(code, 2e9) == 0);
    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    // There is no mean time of a call yet.
    assert_true(isnan(Code_dark_calls(code, 2e9)));
    Counter_set(&code->hot.self_calls, 1);
    Counter_set(&code->hot.self_cycles, 3000);
    code->cold.dark_from_ns = 5000000;
    // The function went dark after the sampled time.
    assert_true(isnan(Code_dark_calls(code, 2e9)));
    Counter_set(&code->share.cpu.total_ns, 11000000);
    Counter_set(&Share_own_parts(&code->share)->wait.total_ns, 9000000);
    assert_float_equal(Code_dark_calls(code, 2e9), 10000, 1e-6);
    Counter_set(&Share_own_parts(&code->share)->wait_to_run.total_ns,
                // Waiting for the GIL or a CPU is not part of a call's time.
                3000000);
    assert_int_equal(Code_sampled_ns(code), 17000000);
    assert_float_equal(Code_dark_calls(code, 2e9), 8000, 1e-6);
    // The function's spans give the number of its calls.
    code->spans.arming = ARMED_SLICES;
    assert_true(Code_dark_calls(code, 2e9) == 0);
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->hot.self_cycles, 0); // The mean time of a call is zero.
    assert_true(isnan(Code_dark_calls(code, 2e9)));
    Code_free(code);
}

// The sampled time of a past dark period is kept until enough calls were timed
// for a mean. If the mean were that of one call which took twice as long, the
// estimate would stay half as large.
TEST(test_calls_of_early_spells)
{
    struct Code *code = generator(500, false);

    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->share.cpu.total_ns, 6000000);
    Code_end_dark(code, 2e9); // No call has been timed yet.
    code->hot.dark = false;
    assert_true(isnan(Code_dark_calls(code, 2e9)));
    Counter_set(&code->hot.self_calls, 1);
    Counter_set(&code->hot.self_cycles, 6000);
    assert_float_equal(Code_dark_calls(code, 2e9), 2000, 1e-6);
    code->cold.dark_from_ns = 6000000;
    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->share.cpu.total_ns, 9000000);
    assert_float_equal(Code_dark_calls(code, 2e9), 3000, 1e-6);
    Code_end_dark(code, 2e9);
    assert_true(code->cold.dark_calls == 0);
    code->hot.dark = false;
    Counter_set(&code->hot.self_calls, 100);
    Counter_set(&code->hot.self_cycles, 300000);
    assert_float_equal(Code_dark_calls(code, 2e9), 6000, 1e-6);
    code->cold.dark_from_ns = 9000000;
    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->share.cpu.total_ns, 12000000);
    Code_end_dark(code, 2e9);
    code->hot.dark = false;
    Counter_set(&code->hot.self_calls, 1000); // The present cost of calls.
    // The present cost does not change the earlier estimate.
    Counter_set(&code->hot.self_cycles, 1000000);
    assert_float_equal(code->cold.dark_calls, 8000, 1e-6);
    assert_float_equal(Code_dark_calls(code, 2e9), 8000, 1e-6);
    Code_free(code);
}

// A call takes 1000 ns at 2 GHz. If no sample was taken, one sample of 5 ms can
// have been missed. The error is therefore 5000 calls if no sample was taken.
// 99 samples of 4 ms are 396 000 calls, with a standard error of 40 000 calls.
// The standard deviation of the 1600 timed calls is equal to their mean. The
// calls of one re-arm window are alike, so the timed calls add an error of a
// tenth. If almost no calls could be timed, the mean is computed from samples.
TEST(test_by_how_much_estimated_calls_are_off)
{
    struct Code *code = generator(500, false);

    assert_true(isnan(Code_calls_error(code, 1, 2e9)));
    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->hot.entries, 1600);
    Counter_set(&code->hot.self_calls, 1600);
    Counter_set(&code->hot.self_cycles, 3200000);
    assert_float_equal(Code_calls_error(code, 1, 2e9), 5000, 1e-6);
    Counter_set(&code->share.run_samples, 99);
    Counter_set(&code->share.cpu.total_ns, 396000000);
    assert_float_equal(Code_calls_error(code, 0, 2e9), 40000, 1e-6);
    assert_float_equal(Code_calls_error(code, 1, 2e9), hypot(40000, 39600),
                       1e-6);
    // The function waited in 15 observations of 400 ms each.
    Counter_set(&code->share.samples, 99 + 15);
    Counter_set(&Share_own_parts(&code->share)->wait.total_ns, 6000000000);
    assert_float_equal(Code_calls_error(code, 0, 2e9), hypot(40000, 1600000),
                       1e-3);
    Counter_set(&Share_own_parts(&code->share)->wait.total_ns, 0);
    // The mean is computed from six timed calls and at least 20 samples.
    Counter_set(&code->hot.self_calls, 6);
    Counter_set(&code->hot.total_cycles, 3200000);
    Counter_set(&code->share.samples, 99);
    Counter_set(&Share_own_parts(&code->share)->cumulative.total_ns, 396000000);
    assert_float_equal(Code_calls_error(code, 4, 2e9), hypot(40000, 40000),
                       1e-6);
    Code_free(code);
}

static int set_up(void **state)
{
    (void)state;
    make_opcodes(&opcodes);
    return 0;
}

int main(void)
{
    return Unit_run(set_up, NULL);
}
