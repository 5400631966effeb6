// SPDX-License-Identifier: MIT
// Tests tracer/session/roll, row_log, ipc/row_set and changes. Each row of a
// snapshot must contain the counters of its function. A viewer that gets only
// changes must have the same rows as a viewer that gets whole snapshots.
#include "ipc/base/heap.h"
#include "ipc/wire.h"
#include "tests/function_record.h"
#include "tests/random.h"
#include "tests/tracer/make_engine.h"
#include "tracer/code/arming.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"
#include "tracer/sample/breakdown.h"
#include "tracer/session/function_row.h"
#include "tracer/session/roll.h"

#include <errno.h>
#include <math.h>

#include "tests/unit.h"

#define FUNCTIONS 300
#define ROUNDS 400
#define VIEWERS 3 // The last one seldom gets snapshots.

struct Fixture {
    struct Engine engine;
    struct Roll roll;
    struct RowLog log;
    struct ShareClock clock;
    struct ShareTime sampled;
    struct Moment at;
    struct ThreadTrace *trace;
    struct Code *codes[FUNCTIONS];
    struct Snapshot *newest, *before;
    struct Snapshot *shown[VIEWERS];
    struct RowMoment base[VIEWERS];
};

static uint64_t below(uint64_t limit)
{
    return random_u64() % limit;
}

static struct Code *make_code(struct Fixture *f)
{
    return add_code(&f->engine, "f", 1 + below(60));
}

static void build(struct Fixture *f)
{
    struct Snapshot *next = Snapshot_new();

    f->sampled = ShareClock_now(&f->clock);
    next->events = 0;
    Roll_fill(&f->roll, &f->log, next, &f->at);
    assert_false(next->arena.failed);
    Snapshot_free(f->before);
    f->before = f->newest;
    f->newest = next;
    RowLog_reclaim(&f->log);
}

static void run_some(struct Fixture *f)
{
    struct Code *code = f->codes[below(FUNCTIONS)];
    uint64_t calls = below(20);

    for (uint64_t i = 0; i < calls; i++) {
        f->at.ticks += below(5000);
        call(f->trace, code, f->at.ticks);
    }
}

static void sample_some(struct Fixture *f)
{
    struct Code *code = f->codes[below(FUNCTIONS)];
    struct ShareCredit credit;

    ShareValue_add(&code->share.cpu, &f->sampled, 5e6);
    ShareValue_add(&Share_own_parts(&code->share)->cumulative, &f->sampled,
                   5e6);
    Counter_add(&code->share.samples, 1);
    Counter_add(&code->share.run_samples, 1);
    if (!Share_own_parts(&code->share)->callers)
        Share_own_parts(&code->share)->callers =
            Heap_zeroed(1, sizeof(struct Breakdown));
    ShareCredit_init(&credit, &f->sampled, 5e6);
    Breakdown_add(Share_own_parts(&code->share)->callers,
                  1 + (uint32_t)below(9), &f->sampled, &credit);
    Code_touch(code);
}

static void free_retired(struct Fixture *f)
{
    struct Code *gone = Registry_take_retired(f->engine.registry, UINT64_MAX);
    struct Code *next;

    Roll_add_new(&f->roll, f->engine.registry);
    for (; gone; gone = next) {
        next = gone->node.next_retired;
        Roll_remove(&f->roll, gone);
        Code_free(gone);
    }
}

static void replace_one(struct Fixture *f)
{
    struct Code **slot = &f->codes[below(FUNCTIONS)];

    Engine_retire(&f->engine, *slot);
    *slot = make_code(f);
    if (below(2)) // otherwise a later call frees them
        return;
    free_retired(f);
}

// Rearms a function like Engine_rearm(), but by the test's clock.
static void rearm(struct Fixture *f, struct Code *code)
{
    Code_end_dark(code, f->at.hz);
    Spans_open(code, f->at.ticks);
    Code_rearm(code, 20, below(2), f->at.ticks);
}

// Begins or ends a slice for the function, as rearm_executor.c does.
static void slice_one(struct Fixture *f, struct Code *code)
{
    bool open = Counter_get(&code->spans.open_ticks), stays = below(2);

    if (code->hot.dark) {
        rearm(f, code);
    } else if (!open) {
        Spans_open(code, f->at.ticks);
        Code_extend(code, 20, f->at.ticks);
    } else if (stays) {
        Spans_set_arming(code, ARMED_ALWAYS);
        Code_extend(code, 20, f->at.ticks);
    } else {
        Spans_close(code, f->at.ticks, f->at.hz);
        Spans_set_arming(code, ARMED_SLICES);
        Code_end_slice(code);
    }
}

static void happen(struct Fixture *f)
{
    uint64_t much = below(8) ? 3 : FUNCTIONS;
    double s = 0.05 + (double)below(100) / 50;

    for (uint64_t i = 0; i < below(much); i++)
        run_some(f);
    for (uint64_t i = 0; i < below(much); i++)
        sample_some(f);
    for (uint64_t i = 0; i < below(3); i++)
        replace_one(f);
    if (!below(3)) {
        struct Code *code = f->codes[below(FUNCTIONS)];

        if (code->hot.dark)
            rearm(f, code);
        Code_note_recent(code, f->at.ticks, f->at.hz);
    }
    for (uint64_t i = 0; i < below(much); i++)
        slice_one(f, f->codes[below(FUNCTIONS)]);
    f->at.now += s;
    f->at.ticks += (uint64_t)(s * f->at.hz);
    ShareClock_advance(&f->clock, s * 1e9, 20 * s);
}

static void expect_equal(const struct Record *record, const char *a,
                         const char *b)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        const char *one = a + field->offset, *other = b + field->offset;
        double x, y;

        if (field->type == FIELD_TEXT) {
            assert_string_equal(*(char *const *)one, *(char *const *)other);
        } else if (field->type == FIELD_LIST) {
            size_t count = *(const size_t *)(a + field->count_offset);

            assert_int_equal(count, *(const size_t *)(b + field->count_offset));
            for (size_t n = 0; n < count; n++)
                expect_equal(field->record,
                             *(char *const *)one + n * field->record->size,
                             *(char *const *)other + n * field->record->size);
        } else if (field->type == FIELD_F64) {
            x = *(const double *)one, y = *(const double *)other;
            if (isnan(x) != isnan(y) || fabs(x - y) > 1e-9 + 1e-9 * fabs(x))
                fail_msg("%s: %.17g, %.17g", field->name, x, y);
        } else {
            assert_int_equal(*(const uint64_t *)one, *(const uint64_t *)other);
        }
    }
}

static const struct Function *find(const struct Snapshot *snapshot, uint64_t id)
{
    for (size_t i = 0; i < snapshot->function_count; i++)
        if (snapshot->functions[i].id == id)
            return &snapshot->functions[i];
    return NULL;
}

// Compares the row of each function with a newly filled row. Filling a row must
// not change what the builder keeps for the next snapshot.
static void check_rows(struct Fixture *f, const struct Snapshot *whole)
{
    uint64_t events = 0, dark = 0;
    struct Arena arena = {0};
    size_t rows = 0;

    for (struct Code *code = Registry_first(f->engine.registry); code;
         code = Registry_next(code)) {
        struct CodeRow kept = code->row;
        struct SharedRow row = {.slot = 0};

        if (!Code_was_seen(code)) {
            assert_null(find(whole, code->hot.id));
            continue;
        }
        FunctionRow_fill(&arena, &row, code, &f->at);
        code->row = kept;
        assert_non_null(find(whole, code->hot.id));
        expect_equal(function_record(), (char *)&row.function,
                     (const char *)find(whole, code->hot.id));
        events += row.events;
        dark += row.function.dark_sites;
        rows++;
    }
    for (struct Code *code = f->engine.registry->retired; code;
         code = code->node.next_retired) {
        const struct Function *function = find(whole, code->hot.id);

        if (!function)
            continue;
        events += Code_events(code);
        dark += function->dark_sites;
        rows++;
    }
    assert_int_equal(whole->function_count, rows);
    assert_int_equal(whole->functions_total, rows);
    assert_int_equal(whole->events, events);
    assert_int_equal(whole->sites_dark, dark);
    Arena_release(&arena);
}

// Encodes the message and decodes it again.
static struct Message pass(struct Message message)
{
    struct Message got;
    struct Bytes bytes;

    Bytes_init(&bytes);
    assert_int_equal(Message_encode(&bytes, &message), 0);
    assert_int_equal(
        Message_decode(&got, bytes.data, bytes.size, WIRE_MAX_FRAME),
        bytes.size);
    Bytes_release(&bytes);
    return got;
}

static size_t show(struct Fixture *f, unsigned viewer)
{
    struct Snapshot out = {0}, *base = f->shown[viewer];
    struct Changes changes;
    int error = -ESTALE;
    struct Message got;
    size_t sent;

    if (base)
        error = RowSet_changes(f->newest, &f->base[viewer], &out, &changes);
    if (error) {
        assert_int_equal(error, -ESTALE);
        assert_int_equal(RowSet_whole(f->newest, &out), 0);
        got =
            pass((struct Message){.type = MESSAGE_SNAPSHOT, .snapshot = &out});
    } else {
        got = pass((struct Message){
            .type = MESSAGE_CHANGES, .snapshot = &out, .changes = &changes});
        Arena_release(&changes.arena);
    }
    Arena_release(&out.arena);
    sent = got.snapshot->function_count;
    if (!error)
        assert_int_equal(Changes_apply(got.changes, base, got.snapshot), 0);
    Snapshot_free(base);
    f->shown[viewer] = Snapshot_hold(got.snapshot);
    f->base[viewer] = f->newest->shared->moment;
    Message_release(&got);
    return sent;
}

static void check(struct Fixture *f, unsigned round)
{
    struct Snapshot whole = {0};

    assert_int_equal(RowSet_whole(f->newest, &whole), 0);
    check_rows(f, &whole);
    for (unsigned i = 0; i < VIEWERS; i++) {
        if (i && round % (i == 1 ? 3 : 350))
            continue;
        show(f, i);
        assert_int_equal(f->shown[i]->function_count, whole.function_count);
        for (size_t n = 0; n < whole.function_count; n++)
            expect_equal(
                function_record(), (const char *)&whole.functions[n],
                (const char *)find(f->shown[i], whole.functions[n].id));
    }
    Arena_release(&whole.arena);
}

TEST_FIXTURE(test_rows_are_what_counters_say)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < FUNCTIONS; i++)
        f->codes[i] = make_code(f);
    for (unsigned round = 0; round < ROUNDS; round++) {
        happen(f);
        build(f);
        check(f, round);
    }
    // Many rows were replaced, and the log must not keep the old ones.
    for (size_t i = 0; i < f->log.block_count; i++)
        bytes += Arena_bytes(&f->log.blocks[i]->arena);
    assert_true(bytes < 1 << 20 && !f->log.dead);
}

static size_t filled(const struct Fixture *f)
{
    return f->roll.due_count;
}

TEST_FIXTURE(test_what_has_not_changed_is_not_filled)
{
    size_t sent;

    for (unsigned i = 0; i < FUNCTIONS; i++) {
        f->codes[i] = add_code(&f->engine, "f", 0);
        call(f->trace, f->codes[i], ++f->at.ticks);
    }
    for (unsigned i = 0; i < 4; i++) {
        f->at.now += 1;
        build(f);
        show(f, 0);
    }
    assert_int_equal(filled(f), 0);
    for (unsigned i = 0; i < 7; i++)
        call(f->trace, f->codes[40 * i], ++f->at.ticks);
    Code_touch(f->codes[1]);
    f->at.now += 1;
    build(f);
    assert_int_equal(filled(f), 8);
    sent = show(f, 0);
    assert_int_equal(sent, 8);
    assert_int_equal(f->shown[0]->function_count, FUNCTIONS);
    // These functions get new rows once more, because their rates become 0.
    f->at.now += 1;
    build(f);
    assert_int_equal(filled(f), 8);
    f->at.now += 1;
    build(f);
    assert_int_equal(filled(f), 0);
    f->roll.all = true;
    build(f);
    assert_int_equal(filled(f), FUNCTIONS);
    build(f);
    assert_int_equal(filled(f), 0);
    f->at.waits = true; // Now waits are known.
    build(f);
    assert_int_equal(filled(f), FUNCTIONS);
}

static double rate_after(struct Fixture *f, struct Code *code, unsigned calls)
{
    struct Snapshot whole = {0};
    double rate;

    while (calls--)
        call(f->trace, code, ++f->at.ticks);
    f->at.now += 1;
    build(f);
    assert_int_equal(RowSet_whole(f->newest, &whole), 0);
    rate = whole.functions[0].calls_per_s;
    Arena_release(&whole.arena);
    return rate;
}

// The rate of a function with few calls a second is steady, and follows a
// change within two seconds.
TEST_FIXTURE(test_the_rate_of_few_calls_is_steady)
{
    struct Code *code = add_code(&f->engine, "f", 0);
    static const unsigned calls[] = {3, 1, 2, 1, 3};
    double before = NAN, rate;
    unsigned changes = 0;

    for (unsigned i = 0; i < 60; i++, before = rate) {
        rate = rate_after(f, code, calls[i % 5]);
        changes += i > 20 && rate != before;
        assert_true(i < 10 || (rate > 1.7 && rate < 2.3));
    }
    assert_true(changes < 6);
    rate_after(f, code, 50);
    assert_float_equal(rate_after(f, code, 50), 50, 1e-6);
    assert_float_equal(rate_after(f, code, 0), 0, 1e-6);
}

// A function is called again after a minute. The function's rate is that since
// the last snapshot, not since its row was filled.
TEST_FIXTURE(test_a_rate_is_not_since_the_row_was_filled)
{
    struct Code *code = add_code(&f->engine, "f", 0);

    call(f->trace, code, ++f->at.ticks);
    for (unsigned i = 0; i < 60; i++) {
        f->at.now += 1;
        build(f);
    }
    assert_float_equal(rate_after(f, code, 50), 50, 1e-6);
}

static void pass_seconds(struct Fixture *f, unsigned count)
{
    while (count--) {
        f->at.now += 1;
        f->at.ticks += (uint64_t)f->at.hz;
        ShareClock_advance(&f->clock, 1e9, 20);
        build(f);
    }
}

static void end_slice(struct Fixture *f, struct Code *code)
{
    Spans_close(code, f->at.ticks, f->at.hz);
    Spans_set_arming(code, ARMED_SLICES);
    Code_end_slice(code);
}

// These functions had no hooks for ten seconds, and then have hooks but no
// calls. The estimate of missed calls becomes better with time, and each step
// changes only some of the rows.
TEST_FIXTURE(test_an_idle_span_is_looked_at_seldom)
{
    size_t rows = 0;

    for (unsigned i = 0; i < FUNCTIONS; i++) {
        f->codes[i] = add_code(&f->engine, "f", 1000);
        Spans_open(f->codes[i], f->at.ticks);
        call(f->trace, f->codes[i], f->at.ticks);
    }
    pass_seconds(f, 2);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        end_slice(f, f->codes[i]);
        call(f->trace, f->codes[i], f->at.ticks); // The function goes dark.
    }
    pass_seconds(f, 10);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        rearm(f, f->codes[i]);
    pass_seconds(f, 8);
    for (unsigned i = 0; i < 32; i++) {
        pass_seconds(f, 1);
        rows += filled(f);
        assert_true(filled(f) < FUNCTIONS / 2);
    }
    assert_in_range(rows, FUNCTIONS, 4 * FUNCTIONS);
}

// If a viewer has missed too many freed functions, it gets the whole snapshot.
TEST_FIXTURE(test_more_have_gone_than_are_remembered)
{
    struct Snapshot out = {0};
    struct Changes changes;

    for (unsigned i = 0; i < FUNCTIONS; i++) {
        f->codes[i] = add_code(&f->engine, "f", 0);
        call(f->trace, f->codes[i], ++f->at.ticks);
    }
    build(f);
    show(f, 0);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        Engine_retire(&f->engine, f->codes[i]);
        free_retired(f);
        if (i % 100)
            continue;
        f->at.now += 1;
        build(f);
    }
    f->at.now += 1;
    build(f);
    assert_int_equal(f->newest->functions_total, 0);
    assert_int_equal(RowSet_changes(f->newest, &f->base[0], &out, &changes),
                     -ESTALE);
    assert_int_equal(show(f, 0), 0);
    assert_int_equal(f->shown[0]->function_count, 0);
}

static void set_up(struct Fixture *f)
{
    make_engine(&f->engine);
    f->trace = add_trace(&f->engine, false);
    ShareClock_advance(&f->clock, 1e9, 20);
    f->at = (struct Moment){.registry = f->engine.registry,
                            .exceptions = &f->engine.exceptions,
                            .start_ticks = 1,
                            .now = 101,
                            .started = 100,
                            .hz = 1e9,
                            .ticks = 1000000000,
                            .sampled = &f->sampled,
                            .sees = true};
}

static void tear_down(struct Fixture *f)
{
    for (unsigned i = 0; i < VIEWERS; i++)
        Snapshot_free(f->shown[i]);
    Snapshot_free(f->newest);
    Snapshot_free(f->before);
    Roll_release(&f->roll);
    RowLog_release(&f->log);
    Engine_release(&f->engine);
}
