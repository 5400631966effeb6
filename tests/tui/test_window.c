// SPDX-License-Identifier: MIT
// Tests tui/model/window. The number of digits that a share has on the screen
// depends on its number of samples.
#include "tui/model/window.h"

#include "tests/tui/sample.h"

#include <math.h>

#include "tests/unit.h"

static char text[NUMBER_MAX];

static const char *says(double samples_a_core, double share)
{
    const struct Window window = {30, 412, samples_a_core};
    Window_share(text, &window, share);
    return text;
}

TEST(test_basis)
{
    const struct Window window = {30, 100, 100};
    const struct Window old = Window_unknown();
    assert_int_equal(Window_basis(&window, NAN), BASIS_NONE);
    assert_int_equal(Window_basis(&window, 0), BASIS_NONE);
    assert_int_equal(Window_basis(&window, .0024), BASIS_NONE);
    assert_int_equal(Window_basis(&window, .0026), BASIS_TRACE);
    assert_int_equal(Window_basis(&window, .0101), BASIS_FEW);
    assert_int_equal(Window_basis(&window, .0999), BASIS_FEW);
    assert_int_equal(Window_basis(&window, .1001), BASIS_FINE);
    // An older process does not report its window.
    assert_int_equal(Window_basis(&old, 0), BASIS_NONE);
    assert_int_equal(Window_basis(&old, 1e-6), BASIS_FINE);
}

TEST(test_words)
{
    assert_string_equal(says(1e4, .314), "31.4%");
    assert_string_equal(says(1e4, .0034), "0.3%");
    assert_string_equal(says(1e5, .00034), "0.03%");
    assert_string_equal(says(1e7, .00003), "<0.01%");
    assert_string_equal(says(20, .37), "40%");
    assert_string_equal(says(20, .096), "10%");
    assert_string_equal(says(2000, .0034), "0.3%");
    assert_string_equal(says(20000, .00034), "0.03%");
    assert_string_equal(says(4e5, .00001), "<0.01%");
    // One sample is 0.25 %, which is rounded up.
    assert_string_equal(says(400, .001), "<0.3%");
    assert_string_equal(says(500, .001), "<0.2%");
    assert_string_equal(says(1e4, .00009), "<0.01%");
    assert_string_equal(says(1, .5), "<100%");
    assert_string_equal(says(400, .0001), "");
    assert_string_equal(says(400, 0), "");
    assert_string_equal(says(NAN, .314), "31.4%");
    assert_string_equal(says(NAN, 0), "");
    assert_string_equal(says(NAN, NAN), "");
}

TEST(test_text)
{
    char out[WINDOW_TEXT];
    struct Window window = {30.2, 1411.7, 1};
    assert_string_equal(Window_text(out, &window), "30 s, 1 412 samples");
    window.samples = 1.2;
    assert_string_equal(Window_text(out, &window), "30 s, 1 sample");
    window = (struct Window){1e300, 1e300, 1};
    assert_string_equal(Window_text(out, &window), "");
    window = Window_unknown();
    assert_string_equal(Window_text(out, &window), "");
}

// The samples of a thread include those in code that is not traced.
TEST(test_of_a_snapshot)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = 0});
    struct Function *functions = Sample_functions(snapshot);
    struct Window window;
    snapshot->sampler_window_samples = 300;
    snapshot->function_count = 2;
    functions[0].cpu_share = .5;
    functions[1].cpu_share = NAN;
    window = Window_of(snapshot, NAN);
    assert_true(window.per_share == 600);
    window = Window_of(snapshot, .75);
    assert_true(window.per_share == 400);
    assert_true(Window_samples(&window, .5) == 200);
    functions[0].cpu_share = 0;
    window = Window_of(snapshot, 0);
    assert_true(isnan(window.per_share));
    assert_true(Window_samples(&window, 0) == 0);
    snapshot->sampler_window_samples = 0;
    window = Window_of(snapshot, 2e-4);
    Window_share(text, &window, 1);
    assert_string_equal(text, "100%");
    Snapshot_free(snapshot);
}
