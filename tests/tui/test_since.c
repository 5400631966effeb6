// SPDX-License-Identifier: MIT
// Tests that the snapshot that the key E saves has the functions and counts
// that are on the screen.
#include "tests/tui/sample.h"
#include "tui/model/since.h"

#include "tests/unit.h"

#include "tests/between.h"

static void push(struct Model *model, unsigned tick)
{
    assert_int_equal(
        Model_push(model, Sample_new((struct SampleSpec){.tick = tick})), 0);
}

// If a made-up counter decreases, the viewer shows a difference of 0.
static uint64_t as_shown(double count)
{
    return isnan(count) ? NULL_U64 : (uint64_t)fmax(count, 0);
}

// Checks that each saved row has the numbers that its columns show.
static void expect_shown(const struct Model *model, const struct Since *since)
{
    for (size_t i = 0; i < model->shown; i++) {
        const struct Row *row = Model_row(model, i);
        const struct Function *function = &since->snapshot.functions[i];
        assert_true(function->id == row->id);
        assert_true(function->calls == as_shown(Row_calls(row)));
        assert_true(function->self_cycles == as_shown(Row_self(row)));
        assert_true(function->total_cycles == as_shown(Row_total(row)));
        assert_true(function->waited_cycles ==
                    as_shown(COLUMNS[COLUMN_WAITED].key(row)));
        assert_true(function->samples ==
                    as_shown(Row_u64(row->now->samples) - row->base.samples));
        if (isfinite(function->calls_estimated))
            assert_true(function->calls_estimated == Row_estimated(row));
        assert_true(function->avg_cycles == row->now->avg_cycles ||
                    isnan(row->now->avg_cycles));
    }
}

// At the reset, the estimated number of calls was too high. The difference from
// it must not become negative.
TEST(test_an_estimate_that_was_too_high)
{
    struct Snapshot *then = Sample_new((struct SampleSpec){.tick = 1});
    struct Snapshot *now = Sample_new((struct SampleSpec){.tick = 2});
    struct Function *before = Sample_functions(then);
    struct Function *after = Sample_functions(now);
    uint64_t id = after->id;
    struct Model model;
    struct Since since;
    assert_true(before->id == id);
    after->calls = before->calls + 100;
    before->calls_estimated = 3000.0 + (double)before->calls;
    after->calls_estimated = 2000.0 + (double)before->calls;
    Model_init(&model);
    assert_int_equal(Model_push(&model, then), 0);
    Model_reset(&model);
    assert_int_equal(Model_push(&model, now), 0);
    for (size_t i = 0; i < model.shown; i++)
        if (Model_row(&model, i)->id == id)
            assert_true(Row_estimated(Model_row(&model, i)) == 100);
    assert_int_equal(model.shown, now->function_count);
    assert_int_equal(Since_make(&since, &model, true), 0);
    for (size_t i = 0; i < model.shown; i++)
        if (since.snapshot.functions[i].id == id)
            assert_true(since.snapshot.functions[i].calls_estimated == 100);
    Since_release(&since);
    Model_release(&model);
}

// If the user has chosen a thread, only its functions are saved, with their
// shares of this thread.
TEST(test_one_thread)
{
    struct Model model;
    struct Since since;
    Model_init(&model);
    push(&model, 1);
    const struct Thread *thread = &model.snapshot->threads[1];
    Model_watch(&model, thread);
    assert_between(model.shown, 1, thread->function_count);
    assert_int_equal(Since_make(&since, &model, true), 0);
    assert_true(since.tid == thread->tid);
    expect_shown(&model, &since);
    for (size_t i = 0; i < model.shown; i++) {
        const struct Function *function = &since.snapshot.functions[i];
        assert_true(function->share == Row_share(Model_row(&model, i)));
        assert_true(function->cpu_share == function->share);
        assert_true(isnan(function->total_share) && isnan(function->c_share) &&
                    isnan(function->wait_share));
    }
    Since_release(&since);
    // The user saves the snapshot in another view than the main view.
    assert_int_equal(Since_make(&since, &model, false), 0);
    assert_true(since.tid == NULL_U64);
    for (size_t i = 0; i < since.snapshot.function_count; i++)
        assert_true(since.snapshot.functions[i].cpu_share ==
                        model.snapshot->functions[i].cpu_share ||
                    isnan(model.snapshot->functions[i].cpu_share));
    Since_release(&since);
    Model_release(&model);
}

TEST(test_a_tid_that_comes_again)
{
    struct Model model;
    struct Since since;
    Model_init(&model);
    push(&model, 1);
    struct Thread *threads = (void *)(uintptr_t)model.snapshot->threads;
    threads[1].cpu_s = 50;
    threads[2].cpu_s = 50;
    Model_reset(&model);
    push(&model, 2);
    threads = (void *)(uintptr_t)model.snapshot->threads;
    threads[1].cpu_s = .1;
    threads[2].cpu_s = 60;
    threads[3].name = "another";
    threads[4].ended = 0;
    assert_int_equal(Since_make(&since, &model, false), 0);
    assert_true(since.snapshot.threads[1].cpu_s == .1);
    assert_true(since.snapshot.threads[1].samples == threads[1].samples);
    // This id still belongs to the same thread as before.
    assert_true(since.snapshot.threads[2].cpu_s == 10);
    assert_true(since.snapshot.threads[3].cpu_s == threads[3].cpu_s);
    assert_true(since.snapshot.threads[4].cpu_s == threads[4].cpu_s);
    Since_release(&since);
    Model_release(&model);
}
