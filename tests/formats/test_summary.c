// SPDX-License-Identifier: MIT
// Tests what a Summary shows of a recording (calls, shares and callers), for
// the whole run and for a part of the run. Calls that had hooks only in slices
// are estimated. Numbers that are unknown are null.
#include "formats/summary.h"

#include "tests/random.h"
#include "tracer/timeline/own_event.h"
#include "tracer/timeline/sample_track.h"
#include "tracer/timeline/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

#define HZ 1e9
#define S UINT64_C(1000000000) // Ticks per second.
#define MS (S / 1000)
#define BASE 1
#define SPECIALISED 2

static char path[64] = "/tmp/ocular-test-summary-XXXXXX";
static struct Opcodes opcodes;

static void make_folder(void)
{
    assert_non_null(mkdtemp(path));
    strcat(path, "/x.1.ocular");
    snprintf(opcodes.name[BASE], sizeof *opcodes.name, "BINARY_OP");
    snprintf(opcodes.name[SPECIALISED], sizeof *opcodes.name,
             "BINARY_OP_ADD_INT");
}

static void remove_folder(void)
{
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
}

struct Program {
    struct Timeline *timeline;
    struct Ring *ring;
    struct Track *track;
    struct SampleTrack samples;
    struct RecordingHead head;
};

static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static char text[32];

    (void)context;
    snprintf(text, sizeof text, "function_%u", id);
    *name = (struct PerfettoName){text, "/src/a.py", 10 * id, 0};
    return true;
}

static void begin(struct Program *program, size_t limit)
{
    int error;
    struct Recording *recording = Recording_new(path, 0, &error);

    assert_non_null(recording);
    *program = (struct Program){
        .timeline = Timeline_new(recording, limit, false),
        .ring = Ring_new(NULL),
        .head = {.hz = HZ, .start_ticks = S, .pid = 4711, .command = "x.py"},
    };
    program->track = Timeline_begin(program->timeline, 0, 4711, "MainThread");
}

static void save(struct Program *program)
{
    const struct RecordingSource source = {NULL, name_of, &opcodes};

    Timeline_drain(program->timeline, program->track, program->ring);
    Timeline_save(program->timeline, program->track);
    Timeline_save_run(program->timeline, &program->head, &source);
    Recording_flush(Timeline_recording(program->timeline), true);
}

// Ends the recording without a final snapshot, as if the program had been
// killed.
static void end(struct Program *program)
{
    save(program);
    Ring_free(program->ring);
    Timeline_free(program->timeline);
}

static void put(struct Program *program, uint64_t ticks, enum EventKind kind,
                uint32_t id)
{
    Ring_push(program->ring, S + ticks, kind, Event_call(id, 0));
    Timeline_drain(program->timeline, program->track, program->ring);
}

static void put_call(struct Program *program, uint64_t ticks, uint32_t id)
{
    put(program, ticks, EVENT_ENTER, id);
    put(program, ticks + 1, EVENT_LEAVE, id);
}

// Records a sample of the function `top`, which function 1 has called.
static void put_sample(struct Program *program, uint64_t ticks, uint32_t top,
                       bool in_c)
{
    const uint32_t both[] = {1, top};
    const struct TimelineSample sample = {.ticks = S + ticks,
                                          .tid = 4711,
                                          .in_c = in_c,
                                          .cpu_ns = 4e6,
                                          .at = Event_step(6, BASE, 11),
                                          .path = both,
                                          .depth = top == 1 ? 1 : 2};

    SampleTrack_add(&program->samples, program->timeline, &sample);
}

// Records waits of a thread in the function `top`, which function 1 has called.
static void put_waits(struct Program *program, uint64_t ticks, pid_t tid,
                      uint32_t top, const struct TimelineWait waits[2])
{
    const uint32_t both[] = {1, top};
    const struct TimelineSample at = {
        .ticks = S + ticks, .tid = tid, .path = both, .depth = 2};

    SampleTrack_add_waits(&program->samples, program->timeline, &at, waits, 2);
}

static void put_own(struct Program *program, struct Event event)
{
    Timeline_add(program->timeline, &event, 1);
}

struct Fixture {
    struct Program program;
    struct Summary *summary;
    struct Snapshot *shown;
};

static void set_up(struct Fixture *f)
{
    (void)f;
}

static void tear_down(struct Fixture *f)
{
    Snapshot_free(f->shown);
    Summary_close(f->summary);
    unlink(path);
}

static void open_summary(struct Fixture *f)
{
    const struct SummaryWatch nobody = {0};
    char why[256];

    assert_int_equal(Summary_open(&f->summary, path, nobody, why, sizeof why),
                     0);
    assert_string_equal(why, "");
}

static void show(struct Fixture *f, double from, double to)
{
    const struct SummaryWatch nobody = {0};
    const struct SummaryStretch stretch = {from, to};

    assert_int_equal(Summary_read(f->summary, stretch, nobody), 0);
    Snapshot_free(f->shown);
    f->shown = Summary_snapshot(f->summary);
    assert_non_null(f->shown);
}

// Ends the recording, and shows the whole run.
static void end_and_show(struct Fixture *f)
{
    end(&f->program);
    open_summary(f);
    show(f, 0, INFINITY);
}

static const struct Function *function(const struct Fixture *f, uint64_t id)
{
    const struct Snapshot *snapshot = f->shown;

    for (size_t i = 0; i < snapshot->function_count; i++)
        if (snapshot->functions[i].id == id)
            return &snapshot->functions[i];
    fail_msg("no function %u", (unsigned)id);
    return NULL;
}

// Records a run of ten seconds. Function 2 is called every 10 ms, and uses 20 %
// of a core in the first half of the run and 80 % in the second half.
static void make_run(void)
{
    struct Program program;
    unsigned i;

    begin(&program, 6 << 20);
    put(&program, 0, EVENT_ENTER, 1);
    for (i = 0; i < 1000; i++)
        put_call(&program, i * 10 * MS + 5, 2);
    for (i = 0; i < 2500; i++)
        if (i % 5 < (i < 1250 ? 1 : 4))
            put_sample(&program, i * 4 * MS, 2, i % 2);
    put_own(&program, OwnEvent_change(S + S, 2, 11, BASE, SPECIALISED));
    put_own(&program, OwnEvent_change(9 * S, 2, 11, SPECIALISED, BASE));
    put(&program, 10 * S, EVENT_LEAVE, 1);
    end(&program);
}

// Records a run of ten seconds. Function 2 always sleeps. In function 3, a
// thread waits all the time. Only every second observation shows what the
// thread waits for, which is a socket in the first half of the run and a file
// in the second half.
static void make_waits(void)
{
    struct Program program;
    unsigned i;

    begin(&program, 6 << 20);
    put(&program, 0, EVENT_ENTER, 1);
    for (i = 1; i <= 40; i++) {
        enum WaitKind kind = i <= 20 ? WAITS_SOCKET : WAITS_FILE;
        bool known = i % 2;

        put_waits(&program, i * 250 * MS, 4711, 2,
                  (struct TimelineWait[2]){{250e6, WAITS_SLEEP, true, true}});
        put_waits(&program, i * 250 * MS, 4712, 3,
                  (struct TimelineWait[2]){
                      {250e6, known ? kind : WAIT_UNKNOWN, true, false},
                      {known ? 500e6 : 0, kind, false, true}});
        put_sample(&program, i * 250 * MS - 1, 4, true);
    }
    put(&program, 10 * S, EVENT_LEAVE, 1);
    end(&program);
}

// Changes the version in the file's head.
static void set_version(unsigned version)
{
    FILE *file = fopen(path, "r+b");
    struct RecordingHead head;

    assert_non_null(file);
    assert_int_equal(fread(&head, sizeof head, 1, file), 1);
    head.version = version;
    rewind(file);
    assert_int_equal(fwrite(&head, sizeof head, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

TEST_FIXTURE(the_whole_run)
{
    const struct Function *one;

    make_run();
    open_summary(f);
    show(f, 0, INFINITY);
    assert_float_equal(Summary_all(f->summary).to_s, 10, .1);
    assert_int_equal(f->shown->pid, 4711);
    assert_string_equal(f->shown->command, "x.py");
    assert_int_equal(f->shown->function_count, 2);
    one = function(f, 2);
    assert_string_equal(one->name, "function_2");
    assert_int_equal(one->line, 20);
    assert_int_equal(one->calls, 1000);
    assert_int_equal(one->calls_exact, 1);
    assert_float_equal(one->calls_per_s, 100, .1);
    assert_float_equal(one->share, .5, .001);
    assert_float_equal(one->total_share, .5, .001);
    assert_float_equal(one->c_share, .25, .05);
    assert_int_equal(one->caller_count, 1);
    assert_int_equal(one->callers[0].id, 1);
    assert_float_equal(one->callers[0].share, .5, .001);
    assert_int_equal(one->state, STATE_ARMED);
    one = function(f, 1);
    assert_float_equal(one->share, 0, 0);
    assert_float_equal(one->total_share, .5, .001);
    assert_true(isnan(one->avg_cycles) && isnan(one->p50_cycles));
    assert_int_equal(one->self_cycles, NULL_U64);
    assert_true(isnan(one->wall_p99_s) && isnan(one->wall_max_s));
    assert_true(isnan(one->oldest_s) && isnan(one->await_s));
    assert_true(isnan(one->gil_blocked_share) && isnan(one->gil_blocked_s));
    assert_int_equal(one->in_flight, NULL_U64);
    assert_int_equal(one->raised, NULL_U64);
    assert_int_equal(f->shown->exception_totals_raised, NULL_U64);
    assert_int_equal(f->shown->thread_count, 1);
    assert_string_equal(f->shown->threads[0].name, "MainThread");
    assert_float_equal(f->shown->threads[0].cpu_s, 5, .01);
    assert_int_equal(f->shown->threads[0].functions[0].id, 2);
}

TEST_FIXTURE(waits)
{
    const struct Function *one;

    make_waits();
    open_summary(f);
    show(f, 0, INFINITY);
    one = function(f, 2);
    assert_float_equal(one->wait_share, 1, .001);
    assert_int_equal(one->wait_count, 1);
    assert_float_equal(one->waits->of[WAITS_SLEEP], 1, .001);
    assert_float_equal(one->total_share, 1, .001);
    assert_int_equal(one->samples, 40);
    assert_int_equal(one->run_samples, 0);
    one = function(f, 3);
    assert_float_equal(one->wait_share, 1, .001);
    assert_float_equal(one->waits->of[WAITS_SOCKET], .5, .001);
    assert_float_equal(one->waits->of[WAITS_FILE], .5, .001);
    assert_float_equal(one->waits->of[WAITS_CPU], 0, 0);
    one = function(f, 1);
    assert_float_equal(one->wait_share, 0, 0);
    assert_int_equal(one->wait_count, 0);
    assert_float_equal(one->total_share, 2.016, .001);
    assert_float_equal(one->total_parts->waits[WAITS_SLEEP], 1, .001);
    assert_float_equal(one->total_parts->waits[WAITS_SOCKET], .5, .001);
    assert_float_equal(one->total_parts->c, .016, .0001);
    assert_float_equal(one->total_parts->gc, 0, 0);
    one = function(f, 4);
    assert_float_equal(one->wait_share, 0, 0);
    assert_float_equal(one->total_parts->waits[WAITS_SLEEP], 0, 0);
    assert_float_equal(f->shown->threads[0].wait_share, 1, .001);
    assert_float_equal(f->shown->gil_waited, 0, 0);
    assert_float_equal(f->shown->cpu_waited, 0, 0);
}

// This part of the run ends in the middle of a wait.
TEST_FIXTURE(waits_of_a_stretch)
{
    make_waits();
    open_summary(f);
    show(f, 6.1, 6.6);
    assert_float_equal(function(f, 2)->wait_share, 1, .001);
    assert_float_equal(function(f, 3)->waits->of[WAITS_FILE], 1, .001);
    assert_float_equal(function(f, 3)->waits->of[WAITS_SOCKET], 0, 0);
}

TEST_FIXTURE(waits_in_stacks)
{
    struct FlameTable *stacks;
    double sums[WAIT_KINDS + 1] = {0};
    size_t i;

    make_waits();
    open_summary(f);
    show(f, 0, INFINITY);
    stacks = Summary_stacks(f->summary);
    for (i = 0; i < stacks->wait_count; i++)
        sums[WaitKind_of(stacks->waits[i].kind)] += stacks->waits[i].share;
    assert_float_equal(sums[WAITS_SLEEP], 1, .001);
    // Waits of an unknown kind are divided in the ratio of the known ones.
    assert_float_equal(sums[WAITS_SOCKET], .5, .001);
    assert_float_equal(sums[WAITS_FILE], .5, .001);
    assert_float_equal(sums[WAIT_UNKNOWN], 0, 0);
    assert_int_equal(stacks->samples, 40);
    FlameTable_free(stacks);
}

TEST_FIXTURE(a_recording_without_waits)
{
    const struct Function *one;

    make_run();
    set_version(4);
    open_summary(f);
    show(f, 0, INFINITY);
    one = function(f, 2);
    assert_true(isnan(one->wait_share) && isnan(one->total_parts->waits[0]));
    assert_int_equal(one->wait_count, 0);
    assert_true(isnan(f->shown->threads[0].wait_share) &&
                isnan(f->shown->gil_waited));
    assert_true(isnan(f->shown->cpu_waited));
    assert_float_equal(one->total_parts->c, .25, .05);
    // If a file of this version has no event of a wait, no thread has waited.
    set_version(RECORDING_VERSION);
    Summary_close(f->summary);
    open_summary(f);
    show(f, 0, INFINITY);
    assert_float_equal(function(f, 2)->wait_share, 0, 0);
    assert_float_equal(function(f, 2)->total_parts->waits[WAITS_GIL], 0, 0);
    assert_float_equal(f->shown->cpu_waited, 0, 0);
}

// The kernel never says what a thread waits for, so the kinds are unknown.
TEST_FIXTURE(waits_of_unknown_kinds)
{
    const struct Function *one;
    unsigned i;

    begin(&f->program, 1 << 20);
    for (i = 1; i <= 40; i++)
        put_waits(&f->program, i * 250 * MS, 4711, 2,
                  (struct TimelineWait[2]){{250e6, WAIT_UNKNOWN, true, false}});
    end_and_show(f);
    one = function(f, 2);
    assert_float_equal(one->wait_share, 1, .001);
    assert_int_equal(one->wait_count, 0);
    assert_true(isnan(one->total_parts->waits[WAITS_SLEEP]));
    assert_true(isnan(f->shown->gil_waited) && isnan(f->shown->cpu_waited));
}

// An event of a forged file can have any kind of wait and any depth.
TEST_FIXTURE(forged_waits)
{
    struct FlameTable *stacks;
    uint64_t kind, depth;

    begin(&f->program, 1 << 20);
    put_sample(&f->program, S, 2, false);
    for (kind = 0; kind < 16; kind++)
        for (depth = 0; depth < 512; depth += 73)
            put_own(&f->program,
                    (struct Event){Event_when(2 * S, EVENT_OFF_CPU),
                                   UINT64_MAX << 45 | kind << 41 | depth << 32 |
                                       4711});
    end_and_show(f);
    stacks = Summary_stacks(f->summary);
    assert_true(isfinite(function(f, 2)->total_share));
    assert_true(stacks->wait_count > 0);
    FlameTable_free(stacks);
}

TEST_FIXTURE(a_function_that_goes_dark)
{
    const struct Function *one;
    unsigned i;

    begin(&f->program, 1 << 20);
    for (i = 0; i < 50; i++)
        put_call(&f->program, i * MS, 2);
    put(&f->program, 50 * MS, EVENT_DARK, 2);
    put_call(&f->program, 10 * S, 4);
    put_sample(&f->program, 5 * S, 5, false);
    end_and_show(f);
    one = function(f, 2);
    assert_int_equal(one->calls, 50);
    assert_int_equal(one->calls_exact, 0);
    assert_true(isnan(one->calls_estimated) && isnan(one->calls_per_s));
    assert_int_equal(one->state, STATE_PARTIAL);
    assert_int_equal(function(f, 4)->calls_exact, 1);
    // Function 5 was only sampled, so the number of its calls is unknown.
    assert_int_equal(function(f, 5)->calls, NULL_U64);
    // Function 5 has no event, so it is unknown whether it had hooks.
    assert_int_equal(function(f, 5)->state, NULL_U64);
    // This part of the run ends before function 2 loses its hooks.
    show(f, 0, .04);
    assert_int_equal(function(f, 2)->calls_exact, 1);
}

// The timeline forgets old events when it reaches its limit. After events were
// forgotten, the counts of the whole run are not exact, but the counts of the
// last half second are exact.
TEST_FIXTURE(events_that_are_missing)
{
    unsigned i;

    begin(&f->program, 1 << 20);
    for (i = 0; i < 100000; i++) {
        put_call(&f->program, UINT64_C(100000) * i, 2);
        if (i % 1000 == 0)
            save(&f->program);
    }
    end_and_show(f);
    assert_int_equal(function(f, 2)->calls_exact, 0);
    assert_true(function(f, 2)->calls < 100000);
    show(f, 9.5, INFINITY);
    assert_int_equal(function(f, 2)->calls_exact, 1);
    assert_float_equal((double)function(f, 2)->calls, 5000, 2);
}

static double below_one(void)
{
    return (double)(random_u64() >> 11) / (double)(UINT64_C(1) << 53);
}

// Records a function that is called at random times, `rate` times a second. The
// function gets its hooks about every 5 s. It loses them at its first call that
// comes more than 0.2 s later.
static void make_slices(struct Fixture *f, double rate, double length)
{
    double at = 0, armed_until = -1, next = 1, dark = 0;
    bool armed = false;

    begin(&f->program, 6 << 20);
    put(&f->program, 0, EVENT_DARK, 2);
    while (at < length) {
        at += -log(1 - below_one()) / rate;
        while (next < at) {
            if (!armed) {
                uint64_t now = (uint64_t)(next * HZ);

                put_own(&f->program,
                        OwnEvent_rearmed(S + now, 2,
                                         (uint64_t)((next - dark) * HZ)));
                armed = true;
                armed_until = next + .2;
            }
            next += 4 + 2 * below_one();
        }
        if (!armed)
            continue;
        if (at > armed_until) {
            put(&f->program, (uint64_t)(at * HZ), EVENT_DARK, 2);
            armed = false;
            dark = at;
        }
        put_call(&f->program, (uint64_t)(at * HZ), 2);
    }
    put_call(&f->program, (uint64_t)(length * HZ), 9);
    end(&f->program);
}

// At least 80 % of the estimates must be within two standard errors of the true
// rate. The test does not require 95 %, because a standard error that is
// computed from few slices is sometimes too small.
TEST_FIXTURE(a_function_that_is_armed_in_slices)
{
    static const double rates[] = {20, 100, 3000};
    unsigned i, k, known = 0, within = 0;
    double sum = 0;

    for (i = 0; i < 3; i++)
        for (k = 0; k < 20; k++) {
            const struct Function *one;

            make_slices(f, rates[i], 100);
            open_summary(f);
            show(f, 0, INFINITY);
            one = function(f, 2);
            assert_int_equal(one->calls_exact, 0);
            if (isfinite(one->calls_per_s)) {
                known++;
                within += fabs(one->calls_per_s - rates[i]) <=
                          2 * one->calls_per_s_error;
                sum += one->calls_per_s / rates[i];
                assert_float_equal(one->calls_estimated, one->calls_per_s * 100,
                                   rates[i]);
            }
            tear_down(f);
            *f = (struct Fixture){.summary = NULL};
        }
    assert_true(known >= 55);
    assert_true(within >= known * 8 / 10);
    assert_float_equal(sum / known, 1, .05);
}

// A function is called 100 times in 0.1 ms and then loses its hooks for a
// second. These 100 calls do not show how many calls follow in that second, so
// the rate is unknown.
TEST_FIXTURE(a_function_that_is_too_hot)
{
    unsigned i, k;

    begin(&f->program, 6 << 20);
    put(&f->program, 0, EVENT_DARK, 2);
    for (i = 1; i < 10; i++) {
        put_own(&f->program, OwnEvent_rearmed(S + i * S, 2, S));
        for (k = 0; k < 100; k++)
            put_call(&f->program, i * S + k * 1000, 2);
        put(&f->program, i * S + 100000, EVENT_DARK, 2);
    }
    put_call(&f->program, 10 * S, 9);
    end_and_show(f);
    assert_int_equal(function(f, 2)->calls, 900);
    assert_true(isnan(function(f, 2)->calls_per_s));
}

static bool refuse(void *context, double done)
{
    (void)context;
    assert_true(done >= 0 && done <= 1);
    return false;
}

TEST_FIXTURE(it_can_be_stopped)
{
    const struct SummaryWatch no = {refuse, NULL};
    char why[256];

    make_run();
    assert_int_equal(Summary_open(&f->summary, path, no, why, sizeof why),
                     -ECANCELED);
    open_summary(f);
    assert_int_equal(Summary_read(f->summary, Summary_all(f->summary), no),
                     -ECANCELED);
    unlink(path);
    assert_true(Summary_probe(path, why, sizeof why) == -ENOENT && *why);
}

int main(void)
{
    return Unit_run(make_folder, remove_folder);
}
