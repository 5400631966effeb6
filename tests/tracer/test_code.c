// SPDX-License-Identifier: MIT
// Tests tracer/code/code. The tests check very long code, and values that are
// computed from counters.
#include "tracer/code/code.h"

#include "tests/tracer/make_opcodes.h"
#include "tracer/code/arming.h"
#include "tracer/code/means.h"

#include <math.h>

#define OWN_MAIN
#include "tests/unit.h"

static struct Opcodes opcodes;

// A generator with a loop and a condition. The code has every kind of site,
// inline caches, and an EXTENDED_ARG.
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

static struct Code *generator(void)
{
    return code_of(GENERATOR, sizeof GENERATOR, 500, false);
}

// With a budget, the program's own functions get hooks before functions of
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

// The code has more code units than a site's number of 16 bits can count, and
// more sites than the map has room for. Code units beyond these limits have no
// site, and no number overflows.
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
    // 32768 branches with two sites each.
    code = code_of(bytecode, 2 * COUNT, 500, true);
    assert_int_equal(code->layout.site_count, UINT16_MAX - 1);
    assert_int_equal(Code_site(code, 4)->unit, 2);
    Code_free(code);
    free(bytecode);
}

// Only in frames of the current epoch, the times of blocks are right.
static void expect_epochs(const struct Code *code, bool blocks)
{
    assert_int_not_equal(code->hot.epoch, 0);
    assert_int_equal(code->hot.block_epoch, blocks ? code->hot.epoch : 0);
}

TEST(test_a_dark_jump_breaks_blocks)
{
    struct Code *code = generator();

    // Without this hook no event is missed, because the site is redundant.
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

TEST(test_mean_takes_waits_in)
{
    struct Code *code = generator();

    assert_true(isnan(Code_mean_cycles(code)));
    Counter_set(&code->hot.self_calls, 4);
    Counter_set(&code->hot.self_cycles, 1000);
    Counter_set(&code->hot.waited_cycles, 200);
    assert_true(Code_mean_cycles(code) == 300);
    // A quarter of the waiting time belongs to the function itself.
    Counter_set(&Share_own_parts(&code->share)->wait.total_ns, 400);
    Counter_set(&Share_own_parts(&code->share)->wait_to_run.total_ns, 300);
    assert_float_equal(Code_mean_cycles(code), 262.5, 1e-9);
    Code_free(code);
}

// A call takes 3000 ticks at 2 GHz, which are 1500 ns. Since the hooks were
// removed, samples found the function running for 9 ms and waiting for 6 ms.
// The estimate is 15 ms / 1500 ns = 10000 calls.
TEST(test_dark_calls_are_sampled_time_by_mean)
{
    struct Code *code = generator();

    assert_true(Code_dark_calls(code, 2e9) == 0);
    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    // The mean time of a call is not known yet.
    assert_true(isnan(Code_dark_calls(code, 2e9)));
    Counter_set(&code->hot.self_calls, 1);
    Counter_set(&code->hot.self_cycles, 3000);
    code->cold.dark_from_ns = 5000000;
    // The function lost its hooks after samples that were of a long call.
    assert_true(Code_dark_calls(code, 2e9) == 0);
    Counter_set(&code->share.cpu.total_ns, 12000000);
    Counter_set(&Share_own_parts(&code->share)->in_long_calls.total_ns,
                1000000);
    Counter_set(&Share_own_parts(&code->share)->wait_in_calls.total_ns,
                9000000);
    assert_int_equal(Code_sampled_ns(code), 20000000);
    assert_float_equal(Code_dark_calls(code, 2e9), 10000, 1e-6);
    // With hooks in slices, spans give the number of calls.
    code->spans.arming = ARMED_SLICES;
    assert_true(Code_dark_calls(code, 2e9) == 0);
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->hot.self_cycles, 0); // The mean time of a call is zero.
    assert_true(isnan(Code_dark_calls(code, 2e9)));
    Code_free(code);
}

// The sampled time of a past time without hooks is kept until enough calls were
// timed for a mean. With one call that took twice as long as usual, the
// estimate would stay half as large.
TEST(test_calls_of_early_spells)
{
    struct Code *code = generator();

    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->share.cpu.total_ns, 6000000);
    Code_end_dark(code, 2e9); // No call has been timed yet.
    code->hot.dark = false;
    assert_true(isnan(Code_dark_calls(code, 2e9)));
    Counter_set(&code->hot.self_calls, 1);
    Counter_set(&code->hot.self_cycles, 6000);
    assert_float_equal(Code_dark_calls(code, 2e9), 2000, 1e-6);
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
    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->share.cpu.total_ns, 12000000);
    Code_end_dark(code, 2e9);
    code->hot.dark = false;
    Counter_set(&code->hot.self_calls, 1000); // Now calls take less time.
    // The new time of calls does not change the earlier estimate.
    Counter_set(&code->hot.self_cycles, 1000000);
    assert_float_equal(code->cold.dark_calls, 8000, 1e-6);
    assert_float_equal(Code_dark_calls(code, 2e9), 8000, 1e-6);
    Code_free(code);
}

// A call takes 1000 ns at 2 GHz. If no sample was taken, one sample of 5 ms can
// have been missed. So the error is 5000 calls. 99 samples of 4 ms are 396 000
// calls, with a standard error of 40 000 calls. The standard deviation of the
// 1600 timed calls is equal to their mean. The calls of one re-arm window are
// alike, so the timed calls add an error of a tenth. If almost no calls were
// timed, the mean is computed from samples.
TEST(test_by_how_much_estimated_calls_are_off)
{
    struct Code *code = generator();

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
    // 15 observations of 400 ms each found the function waiting.
    Counter_set(&Share_own_parts(&code->share)->waits_in_calls, 15);
    Counter_set(&Share_own_parts(&code->share)->wait_in_calls.total_ns,
                6000000000);
    assert_float_equal(Code_calls_error(code, 0, 2e9), hypot(40000, 1600000),
                       1e-3);
    Counter_set(&Share_own_parts(&code->share)->wait_in_calls.total_ns, 0);
    // Six timed calls and at least 20 samples give the mean.
    Counter_set(&code->hot.self_calls, 6);
    Counter_set(&code->hot.total_cycles, 3200000);
    Counter_set(&code->share.samples, 99);
    Counter_set(&Share_own_parts(&code->share)->cumulative.total_ns, 396000000);
    assert_float_equal(Code_calls_error(code, 4, 2e9), hypot(40000, 40000),
                       1e-6);
    Code_free(code);
}

static void set_up(void)
{
    make_opcodes(&opcodes);
}

int main(void)
{
    return Unit_run(set_up, NULL);
}
