// SPDX-License-Identifier: MIT
// Tests the model of the main table. Rows keep their history from one snapshot
// to the next. Any two rows have a fixed order, with null last. The selection
// follows its function.
#include "tests/tui/sample.h"
#include "tui/model/deopt.h"
#include "tui/model/model.h"

#include <string.h>

#include "tests/unit.h"

static struct Model model;

static void prepare(void)
{
    Model_init(&model);
}

static void finish(void)
{
    Model_release(&model);
}

static void push(unsigned tick)
{
    assert_int_equal(
        Model_push(&model, Sample_new((struct SampleSpec){.tick = tick})), 0);
}

static const char *name_at(size_t index)
{
    return Model_row(&model, index)->now->name;
}

// Returns the share, or 0 if it is based on less than WINDOW_LEAST samples.
static double share_of(const struct Row *row)
{
    double share = Row_share(row);
    return share * row->window.per_share < WINDOW_LEAST ? 0 : share;
}

static double key_of(const struct Row *row)
{
    enum ColumnId id = Model_sort_column(&model);
    double key = COLUMNS[id].key(row);
    if (id == COLUMN_WALL_P99 && isnan(key))
        key = row->now->wall_p50_s;
    if ((id == COLUMN_WALL_P99 || id == COLUMN_WALL_MAX) && Row_hangs(row))
        return fmax(key, row->now->oldest_s);
    return id == COLUMN_SHARE ? share_of(row) : key;
}

// Returns true if two rows with equal sort keys are in the right order.
static bool in_order(const struct Row *x, const struct Row *y)
{
    const double a[] = {Row_is_idle(y), share_of(x), Row_recent_cost(x),
                        Row_self(x), (double)y->id};
    const double b[] = {Row_is_idle(x), share_of(y), Row_recent_cost(y),
                        Row_self(y), (double)x->id};
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        if (a[i] != b[i] && !isnan(a[i]) && !isnan(b[i]))
            return a[i] > b[i];
    return false;
}

static void check_order(void)
{
    const struct Column *column = &COLUMNS[Model_sort_column(&model)];
    for (size_t i = 1; i < model.shown; i++) {
        const struct Row *x = Model_row(&model, i - 1);
        const struct Row *y = Model_row(&model, i);
        double a = key_of(x), b = key_of(y);
        if (column->recent && Row_is_idle(x) != Row_is_idle(y)) {
            // Idle functions come last, also if the order is inverted.
            assert_true(Row_is_idle(y));
            continue;
        }
        // Rows whose key is null come last.
        assert_true(!isnan(a) || isnan(b));
        if (!isnan(b))
            assert_true(model.invert ? a <= b : a >= b);
        if (a == b)
            assert_true(in_order(x, y));
    }
}

TEST_WITH(test_every_column_sorts, prepare, finish)
{
    push(0);
    push(1);
    assert_int_equal(model.shown, 12);
    assert_string_equal(name_at(0), "EqualityConstraint.execute");
    for (int i = 0; i < COLUMN_COUNT; i++) {
        Model_sort_by(&model, (enum ColumnId)i);
        assert_int_equal(model.shown, 12);
        if (COLUMNS[i].by_text)
            continue;
        check_order();
        Model_invert(&model);
        check_order();
        Model_invert(&model);
    }
    Model_sort_by(&model, COLUMN_FUNCTION);
    for (size_t i = 1; i < model.shown; i++)
        assert_true(strcmp(name_at(i - 1), name_at(i)) <= 0);
    Model_invert(&model);
    assert_true(strcmp(name_at(0), name_at(1)) > 0);
}

// Makes a function without samples, with this name and these numbers.
static void make(struct Function *function, const char *name, double rate,
                 double avg, uint64_t self)
{
    function->name = name;
    function->share = function->cpu_share = function->total_share = 0;
    function->calls_per_s = rate;
    function->avg_cycles = avg;
    function->self_cycles = self;
    function->calls_exact = 1;
    function->age_s = 1;
    function->state = STATE_ARMED;
}

static void push_idle_program(unsigned tick)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = tick});
    struct Function *functions = Sample_functions(snapshot);
    snapshot->function_count = 7;
    snapshot->sampler_window_s = 60;
    make(&functions[0], "import", NAN, NAN, 4000);
    functions[0].age_s = 61;
    // After a long import, its share becomes smaller for some minutes.
    functions[0].total_share = .5;
    functions[0].in_flight = 0;
    make(&functions[1], "import twice", 0, 100, 9000);
    functions[1].age_s = 62;
    functions[1].state = STATE_PARTIAL;
    functions[1].total_share = .1;
    functions[1].in_flight = NULL_U64;
    make(&functions[2], "rare", 1, 100, 5000);
    make(&functions[3], "frequent", 50, 100, 300);
    make(&functions[4], "costly", 2, 9000, 200);
    make(&functions[5], "sampled", 0, NAN, 0);
    functions[5].share = functions[5].cpu_share = .01;
    make(&functions[6], "main", 0, NAN, 0);
    functions[6].age_s = 62;
    functions[6].state = STATE_PARTIAL;
    functions[6].total_share = .9;
    functions[6].in_flight = NULL_U64;
    assert_int_equal(Model_push(&model, snapshot), 0);
}

// Functions without samples, like most functions, are sorted by their recent
// cost, and then by their total.
TEST_WITH(test_an_idle_program, prepare, finish)
{
    static const char *const order[] = {"sampled", "costly", "frequent",
                                        "rare",    "main",   "import twice",
                                        "import"};
    push_idle_program(0);
    assert_int_equal(model.shown, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(name_at(i), order[i]);
    Model_invert(&model); // Idle functions stay last.
    assert_string_equal(name_at(4), "sampled");
    assert_string_equal(name_at(6), "import");
    Model_invert(&model);
    // SELF has numbers of the whole run, so idle functions do not come last.
    Model_sort_by(&model, COLUMN_SELF);
    assert_string_equal(name_at(0), "import twice");
    Model_sort_by(&model, COLUMN_SHARE);
    Model_toggle_idle(&model);
    assert_int_equal(model.shown, 5);
    assert_int_equal(model.hidden, 2);
    assert_string_equal(name_at(3), "rare");
    push_idle_program(1);
    assert_int_equal(model.shown, 5);
    Model_filter(&model, "import");
    assert_int_equal(model.shown, 0);
    assert_int_equal(model.hidden, 2);
    Model_toggle_idle(&model);
    assert_int_equal(model.shown, 2);
    assert_int_equal(model.hidden, 0);
}

// If a call of a function hangs, the age of its oldest call is the sort key.
// A main loop, which began with the program, comes last.
TEST_WITH(test_the_order_of_latencies, prepare, finish)
{
    static const char *const order[] = {
        "never ends", "make_handler.<locals>.wrapper", // has a call of 18 s
        "idle", "\xe6\x95\xb0\xe6\x8d\xae\xe8\xa1\xa8.\xe8\xaf\xbb\xe5\x8f\x96",
        "Plan.execute"};
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = 0});
    struct Function *loop = &Sample_functions(snapshot)[0];
    loop->name = loop->file = "main";
    loop->calls = loop->in_flight = 1;
    loop->in_flight_is_least = 0;
    loop->oldest_s = snapshot->uptime_s;
    loop->wall_p50_s = loop->wall_p99_s = loop->wall_max_s = NAN;
    loop[9] = *loop;
    loop[9].id = 900;
    loop[9].name = "never ends";
    loop[9].oldest_s = loop[9].age_s = 600;
    assert_int_equal(Model_push(&model, snapshot), 0);
    Model_sort_by(&model, COLUMN_AVG);
    Model_invert(&model);
    Model_show_latency(&model, true);
    assert_int_equal(model.sort, COLUMN_WALL_P99);
    assert_false(model.invert);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(name_at(i), order[i]);
    Model_sort_by(&model, COLUMN_WALL_MAX);
    assert_string_equal(name_at(0), order[0]);
    Model_sort_by(&model, COLUMN_OLDEST);
    assert_string_equal(name_at(0), "main");
    // The main view and the latency view remember separate orders.
    Model_show_latency(&model, false);
    assert_int_equal(model.sort, COLUMN_AVG);
    assert_true(model.invert);
    Model_show_latency(&model, true);
    assert_int_equal(model.sort, COLUMN_OLDEST);
    assert_false(model.invert);
    assert_string_equal(name_at(0), "main");
}

// A handler whose calls were partly missed has no P99. Often the most called
// handler is one of these, so its P50 takes the place of P99 for sorting.
TEST_WITH(test_the_order_of_latencies_without_p99, prepare, finish)
{
    static const struct {
        const char *name;
        double p50, p99;
    } rows[] = {{"handler", .02, NAN},
                {"fast", .001, .015},
                {"slow", .001, .03},
                {"unknown", NAN, NAN}};
    static const char *const order[] = {"slow", "handler", "fast", "unknown"};
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = 0});
    struct Function *functions = Sample_functions(snapshot);
    snapshot->function_count = 4;
    for (int i = 0; i < 4; i++) {
        make(&functions[i], rows[i].name, 0, 100, 0);
        functions[i].wall_p50_s = rows[i].p50;
        functions[i].wall_p99_s = rows[i].p99;
    }
    assert_int_equal(Model_push(&model, snapshot), 0);
    Model_show_latency(&model, true);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(name_at(i), order[i]);
    check_order();
}

// A function with a call in flight is not idle, even if its newest event is
// old.
TEST_WITH(test_a_call_in_flight_is_not_idle, prepare, finish)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.tick = 0});
    struct Function *functions = Sample_functions(snapshot);
    snapshot->function_count = 2;
    make(&functions[0], "hangs", 0, 100, 0);
    make(&functions[1], "idle", 0, 100, 0);
    functions[0].age_s = functions[1].age_s = 600;
    functions[0].in_flight = 1;
    functions[1].in_flight = 0;
    assert_int_equal(Model_push(&model, snapshot), 0);
    assert_false(Row_is_idle(Model_row_of(&model, 1)));
    assert_true(Row_is_idle(Model_row_of(&model, 2)));
}

TEST_WITH(test_cpu_time_from_stacks, prepare, finish)
{
    struct CallTotal totals[] = {{1, .5, .1, 0}, {2, .3, .3, 0}};
    const struct Calls calls = {.functions = totals, .function_count = 2};
    push(0);
    Model_show_latency(&model, true);
    Model_sort_by(&model, COLUMN_CPU);
    Model_take_calls(&model, &calls, 100, 40);
    const struct Row *row = Model_row_of(&model, 1);
    assert_true(row->cpu_s == 50 && fabs(row->cpu_samples - 50) < 1e-9);
    assert_true(fabs(Model_row_of(&model, 2)->cpu_samples - 30) < 1e-9);
    assert_true(Model_row_of(&model, 3)->cpu_s == 0);
    assert_true(Row_cpu(row) == 50 / row->now->calls_estimated);
    check_order();
}

TEST_WITH(test_one_thread, prepare, finish)
{
    push(0);
    push(1);
    const struct Thread *thread = &model.snapshot->threads[1];
    double all = Model_share(&model);
    Model_watch(&model, thread);
    // The thread's list has a fourth entry for all other functions.
    assert_int_equal(model.shown, 3);
    assert_true(Model_share(&model) == thread->cpu_share);
    double listed = 0;
    for (size_t i = 0; i < model.shown; i++)
        listed += Row_share(Model_row(&model, i));
    assert_float_equal(listed + Model_unlisted(&model), thread->cpu_share,
                       1e-9);
    // The filter hides all rows, but the process still sends them.
    Model_filter(&model, "no such thing");
    assert_float_equal(listed + Model_unlisted(&model), thread->cpu_share,
                       1e-9);
    Model_filter(&model, "");
    for (size_t i = 0; i < model.shown; i++) {
        const struct Row *row = Model_row(&model, i);
        assert_true(row->part && Row_share(row) > 0);
        assert_true(Row_share(row) < row->now->share);
        // The earlier trend was not that of this thread.
        assert_true(isnan(row->trend[TREND_LENGTH - 2]));
    }
    check_order();
    push(2); // still this thread
    assert_int_equal(model.shown, 3);
    Model_watch(&model, NULL);
    assert_true(isnan(Model_unlisted(&model)));
    assert_int_equal(model.shown, 12);
    assert_true(fabs(Model_share(&model) - all) < all / 2);
    assert_false(Model_row(&model, 0)->part);
    // An ended thread has no functions. A thread that is not in the list any
    // more has no share.
    Model_watch(&model, &model.snapshot->threads[4]);
    assert_int_equal(model.shown, 0);
    model.thread.tid = 1;
    push(3);
    assert_null(Model_thread(&model));
    assert_true(isnan(Model_share(&model)));
    assert_int_equal(model.shown, 0);
}

TEST_WITH(test_history, prepare, finish)
{
    for (unsigned tick = 0; tick < 5; tick++)
        push(tick);
    const struct Row *row = Model_row(&model, 0);
    int known = 0;
    for (int i = 0; i < TREND_LENGTH; i++)
        known += !isnan(row->trend[i]);
    assert_int_equal(known, 5);
    assert_true(row->trend[TREND_LENGTH - 1] == (float)row->now->share);
    assert_int_equal(row->unseen, 0);
    // Functions that disappear from the snapshots keep their history for a
    // time.
    uint64_t id = row->id;
    for (unsigned tick = 5; tick < 9; tick++) {
        struct Snapshot *snapshot =
            Sample_new((struct SampleSpec){.tick = tick});
        snapshot->function_count = 0;
        Model_push(&model, snapshot);
        assert_int_equal(model.shown, 0);
        assert_int_equal(model.rows.count, 12);
    }
    push(9);
    for (size_t i = 0; i < model.shown; i++)
        if (Model_row(&model, i)->id == id)
            row = Model_row(&model, i);
    assert_false(isnan(row->trend[TREND_LENGTH - 6]));
    assert_true(isnan(row->trend[TREND_LENGTH - 2]));
    for (unsigned tick = 10; tick < 10 + TREND_LENGTH; tick++) {
        struct Snapshot *snapshot =
            Sample_new((struct SampleSpec){.tick = tick});
        snapshot->function_count = 1;
        Model_push(&model, snapshot);
    }
    assert_int_equal(model.rows.count, 1);
}

TEST_WITH(test_reset, prepare, finish)
{
    push(0);
    Model_reset(&model);
    for (size_t i = 0; i < model.shown; i++)
        assert_true(Row_self(Model_row(&model, i)) == 0);
    push(1);
    assert_true(model.reset);
    assert_int_equal(model.base_events, 12000000);
    for (size_t i = 0; i < model.shown; i++)
        assert_true(Row_self(Model_row(&model, i)) <= 2.1e9);
    // A new trace begins, with nothing of the counts of the old trace.
    struct Snapshot *young = Sample_new((struct SampleSpec){.tick = 0});
    young->uptime_s = 1;
    Model_push(&model, young);
    assert_false(model.reset);
    assert_true(Row_self(Model_row(&model, 0)) > 2.1e9);
}

TEST_WITH(test_baseline, prepare, finish)
{
    Model_baseline(&model); // no effect without a snapshot
    assert_false(model.baseline);
    push(0);
    const struct TransitionPair *pair = &model.snapshot->transition_pairs[0];
    double all = Model_pair_count(&model, pair);
    Model_baseline(&model);
    assert_true(model.baseline);
    assert_true(Model_pair_count(&model, pair) == 0);
    push(3);
    pair = &model.snapshot->transition_pairs[0];
    assert_true(Model_pair_count(&model, pair) == 9);
    // Rows are sorted by the change of their share, not by the share.
    for (size_t i = 1; i < model.shown; i++) {
        double a = Column_key(COLUMN_SHARE, Model_row(&model, i - 1), true);
        double b = Column_key(COLUMN_SHARE, Model_row(&model, i), true);
        // A smaller change counts as no change.
        double sample = 1 / model.window.per_share;
        assert_true((fabs(a) < sample ? 0 : a) >= (fabs(b) < sample ? 0 : b) ||
                    Row_is_idle(Model_row(&model, i)));
    }
    assert_true(Column_key(COLUMN_SHARE, Model_row(&model, 10), true) < 0);
    Model_baseline(&model);
    assert_false(model.baseline);
    assert_true(Model_pair_count(&model, pair) == all + 9);
    check_order();
    Model_baseline(&model);
    Model_reset(&model); // A reset also drops the baseline.
    assert_false(model.baseline);
    assert_true(Model_pair_count(&model, pair) == 0);
    const struct Thread *threads = model.snapshot->threads;
    const struct ThreadMark *mark = Mark_thread(&model.reset_mark, &threads[1]);
    assert_true(mark && mark->cpu_s == 5);
    assert_null(Mark_thread(&model.reset_mark, &(struct Thread){.tid = 1}));
    assert_null(Mark_thread(&model.baseline_mark, &threads[1]));
}

// A baseline of one thread is not compared with another thread's shares.
TEST_WITH(test_a_baseline_of_others, prepare, finish)
{
    push(0);
    push(1);
    const struct Thread *threads = model.snapshot->threads;
    const struct Thread *choices[] = {NULL, &threads[0], &threads[1], NULL};
    for (size_t i = 0; i + 1 < sizeof choices / sizeof choices[0]; i++) {
        Model_watch(&model, choices[i]);
        Model_baseline(&model);
        assert_true(model.baseline);
        // The same thread is chosen again.
        Model_watch(&model, choices[i]);
        assert_true(model.baseline);
        Model_watch(&model, choices[i + 1]);
        assert_false(model.baseline);
        assert_null(Mark_thread(&model.baseline_mark, &threads[0]));
        // The key by which rows are sorted is the number on the screen.
        check_order();
    }
}

// An instruction that alternates between two specialised forms never returns to
// its base opcode. Such an instruction is marked as a storm, too.
TEST_WITH(test_storms, prepare, finish)
{
    struct Transition swing = {
        .from = "BINARY_OP_ADD_INT", .to = "BINARY_OP_ADD_FLOAT", .id = 7};
    for (uint64_t storm = 0; storm <= 1; storm++) {
        struct Snapshot *snapshot =
            Sample_new((struct SampleSpec){.tick = (unsigned)storm});
        swing.storm = storm;
        swing.seen_at_s = snapshot->uptime_s - 5;
        snapshot->transitions = &swing;
        snapshot->transition_count = 1;
        assert_int_equal(Model_push(&model, snapshot), 0);
        assert_int_equal(Model_row_of(&model, 7)->deopt, storm == 1);
        assert_false(Model_row_of(&model, 8)->deopt);
    }
    swing.storm = NULL_U64; // An older version of Ocular reports no storms.
    assert_false(Deopt_is_recent(model.snapshot, &swing));
}

// These ids are the worst case for a hash table, and a hostile process could
// send them.
TEST_WITH(test_odd_ids, prepare, finish)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){.extra = 2000});
    struct Function *functions = Sample_functions(snapshot);
    for (size_t i = 0; i < snapshot->function_count; i++)
        functions[i].id = (uint64_t)(i % 1000) << 44;
    functions[0].id = UINT64_MAX;
    functions[0].name = NULL;
    functions[0].file = NULL;
    assert_int_equal(Model_push(&model, snapshot), 0);
    assert_int_equal(model.shown, 1001);
    Model_filter(&model, "module");
    Model_sort_by(&model, COLUMN_FILE);
    assert_true(model.shown > 0);
}
