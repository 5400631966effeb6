// SPDX-License-Identifier: MIT
// Tests how the snapshots of several processes become one snapshot.
#include "tui/model/merge.h"
#include "tui/model/merge_stacks.h"

#include <string.h>

#include "tests/function_record.h"
#include "tests/unit.h"

static struct Merge merge;
static struct IdMap ids[3];
static struct Standouts standouts;
static struct Snapshot *parts[3];
static struct Snapshot *merged;
static double uptime_s = 20; // uptime of `merged`

static void prepare(void)
{
    for (int i = 0; i < 3; i++) {
        parts[i] = Snapshot_new();
        parts[i]->uptime_s = 10;
    }
}

static void finish(void)
{
    for (int i = 0; i < 3; i++) {
        Snapshot_free(parts[i]);
        IdMap_release(&ids[i]);
    }
    Snapshot_free(merged);
    merged = NULL;
    uptime_s = 20;
    Merge_release(&merge);
    free(standouts.items);
    standouts = (struct Standouts){0};
}

// Adds functions that have only an id and a name.
static struct Function *add(int part, size_t count)
{
    struct Snapshot *to = parts[part];
    struct Function *all = Snapshot_alloc(to, count * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        Record_clear(function_record(), &all[i]);
        all[i].id = 100 * (uint64_t)(part + 1) + i;
        all[i].name = i ? "other" : "work";
        all[i].file = "/srv/app.py";
        all[i].line = 7;
    }
    to->functions = all;
    to->function_count = count;
    return all;
}

static void merge_all(const enum FoldAge ages[3])
{
    struct MergePart all[3];
    for (int i = 0; i < 3; i++)
        all[i] = (struct MergePart){.pid = 10 + i,
                                    .snapshot = parts[i],
                                    .ids = &ids[i],
                                    .age = ages[i],
                                    .silent_s = 5,
                                    .begin_s = 10};
    struct MergeRequest request = {all, 3, 1, uptime_s};
    Snapshot_free(merged);
    merged = Merge_make(&merge, &request, &standouts);
    assert_non_null(merged);
}

static const enum FoldAge LIVE[3] = {FOLD_LIVE, FOLD_LIVE, FOLD_LIVE};

static const struct Function *row(const char *name)
{
    for (size_t i = 0; i < merged->function_count; i++)
        if (!strcmp(merged->functions[i].name, name))
            return &merged->functions[i];
    fail();
    return NULL;
}

TEST(every_number_of_a_snapshot_has_a_rule)
{
    const char *group, *name = Merge_lacks(0, &group);
    if (name)
        print_error("ipc/snapshot.c has no rule for %s\n", name);
    assert_null(name);
}

TEST_WITH(the_longest_hold_of_the_gil_keeps_its_stack, prepare, finish)
{
    for (int i = 0; i < 2; i++) {
        struct StackPlace *place = Snapshot_alloc(parts[i], sizeof *place);
        *place = (struct StackPlace){add(i, 2)[i].id, "work", "/srv/app.py", 7};
        parts[i]->gil_longest = place;
        parts[i]->gil_longest_count = 1;
        parts[i]->gil_longest_s = 1 + i;
        parts[i]->gil_held = .4;
    }
    merge_all(LIVE);
    assert_float_equal(merged->gil_longest_s, 2, 1e-9);
    assert_float_equal(merged->gil_held, .8, 1e-9);
    assert_int_equal(merged->gil_longest_count, 1);
    assert_int_equal(merged->gil_longest[0].id, row("other")->id);
}

TEST_WITH(exceptions_of_a_type_and_a_function_add_up, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct ExceptionRow *row = Snapshot_alloc(parts[i], sizeof *row);
        *row = (struct ExceptionRow){.type = i == 2 ? "KeyError" : "OSError",
                                     .function = "work",
                                     .file = "/srv/app.py",
                                     .line = 8 + (uint64_t)i,
                                     .id = add(i, 1)->id,
                                     .raised = 100,
                                     .error = i == 0 ? .3 : .4,
                                     .raised_per_s = 2,
                                     .age_s = 3 - i,
                                     .first_s = 1 + i};
        parts[i]->exceptions = row;
        parts[i]->exception_count = 1;
    }
    merge_all(LIVE);
    const struct ExceptionRow *rows = merged->exceptions;
    assert_int_equal(merged->exception_count, 2);
    assert_string_equal(rows[0].type, "KeyError");
    assert_int_equal(rows[1].raised, 200);
    assert_float_equal(rows[1].raised_per_s, 4, 1e-9);
    assert_float_equal(rows[1].error, .25, 1e-9);
    assert_float_equal(rows[1].age_s, 2, 1e-9);
    // A time in the trace of 20 s, not in the one of 10 s.
    assert_float_equal(rows[1].first_s, 11, 1e-9);
    assert_int_equal(rows[1].id, merged->functions[0].id);
}

// Each merged snapshot has the same times of stalls and exceptions, because
// views recognise them by these times.
TEST_WITH(times_remain_until_the_next_snapshot, prepare, finish)
{
    struct StallRow *stall = Snapshot_alloc(parts[0], sizeof *stall);
    *stall = (struct StallRow){.at_s = 4, .seconds = .5, .id = NULL_U64};
    parts[0]->stalls = stall;
    parts[0]->stall_count = 1;
    struct ExceptionRow *row = Snapshot_alloc(parts[1], sizeof *row);
    *row =
        (struct ExceptionRow){.type = "OSError", .id = NULL_U64, .first_s = 3};
    parts[1]->exceptions = row;
    parts[1]->exception_count = 1;
    for (; uptime_s < 40; uptime_s += 10) {
        merge_all((enum FoldAge[]){FOLD_SILENT, FOLD_ENDED, FOLD_LIVE});
        assert_int_equal(merged->stall_count, 1);
        assert_float_equal(merged->stalls[0].at_s, 14, 1e-9);
        assert_float_equal(merged->exceptions[0].first_s, 13, 1e-9);
    }
}

// Each process computes the limit of stalls from the speed of its own clock, so
// the limits differ slightly.
TEST_WITH(the_limit_of_stalls_is_the_least, prepare, finish)
{
    for (int i = 0; i < 3; i++)
        parts[i]->stall_limit_s = .05 + i * 1e-9;
    merge_all(LIVE);
    assert_true(merged->stall_limit_s == .05);
}

TEST_WITH(tasks_of_a_coroutine_add_up, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct TaskGroup *group = Snapshot_alloc(parts[i], sizeof *group);
        *group = (struct TaskGroup){.coroutine = "work",
                                    .file = "/srv/app.py",
                                    .count = 5,
                                    .id = add(i, 1)->id,
                                    .growth_per_min = i == 1 ? 60 : 0,
                                    .waits_in = i == 1 ? "get" : "sleep",
                                    .wait_count = i == 1 ? 5 : 2,
                                    .oldest_s = i};
        parts[i]->tasks_groups = group;
        parts[i]->tasks_group_count = 1;
        parts[i]->tasks_total = 6;
    }
    merge_all(LIVE);
    const struct TaskGroup *group = merged->tasks_groups;
    assert_int_equal(merged->tasks_total, 18);
    assert_int_equal(merged->tasks_group_count, 1);
    assert_int_equal(group->count, 15);
    assert_int_equal(group->id, row("work")->id);
    assert_string_equal(group->waits_in, "get");
    assert_float_equal(group->growth_per_min, 60, 1e-9);
    assert_float_equal(group->oldest_s, 2, 1e-9);
}

// A process that has ended has no tasks. A group shows its oldest task.
TEST_WITH(tasks_of_a_process_that_ended_are_left_out, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct TaskGroup *group = Snapshot_alloc(parts[i], sizeof *group);
        struct StackPlace *place = Snapshot_alloc(parts[i], sizeof *place);
        *place = (struct StackPlace){add(i, 1)->id, "work", "/srv/app.py", 7};
        *group = (struct TaskGroup){.coroutine = i ? "work" : "gone",
                                    .id = NULL_U64,
                                    .count = 1,
                                    .oldest_s = i == 1 ? 9 : 1,
                                    .task = i == 1 ? "Task-9" : "Task-1",
                                    .chain = place,
                                    .chain_count = 1};
        parts[i]->tasks_groups = group;
        parts[i]->tasks_group_count = 1;
    }
    merge_all((enum FoldAge[]){FOLD_ENDED, FOLD_LIVE, FOLD_LIVE});
    const struct TaskGroup *group = merged->tasks_groups;
    assert_int_equal(merged->tasks_group_count, 1);
    assert_string_equal(group->coroutine, "work");
    assert_string_equal(group->task, "Task-9");
    assert_int_equal(group->chain_count, 1);
    assert_int_equal(group->chain[0].id, row("work")->id);
}

TEST_WITH(null_stays_null_unless_another_process_knows, prepare, finish)
{
    add(0, 1)->wall_p99_s = .2;
    add(1, 1)->wall_p99_s = .3;
    add(2, 1)->calls = 5;
    merge_all(LIVE);
    assert_float_equal(row("work")->wall_p99_s, .3, 1e-9);
    assert_int_equal(row("work")->calls, 5);
    assert_true(isnan(row("work")->share));
    assert_true(row("work")->in_flight == NULL_U64);
    assert_true(isnan(merged->gc_share));
}

static void add_parts(int part, double socket, double c)
{
    struct Function *work = add(part, 1);
    struct WaitShares *waits = Snapshot_alloc(parts[part], sizeof *waits);
    struct PartShares *total = Snapshot_alloc(parts[part], sizeof *total);
    for (int i = 0; i < WAIT_KINDS; i++)
        waits->of[i] = total->waits[i] = 0;
    waits->of[WAITS_SOCKET] = total->waits[WAITS_SOCKET] = socket;
    total->c = c;
    total->gc = NAN;
    work->waits = waits;
    work->total_parts = total;
    work->wait_count = work->total_part_count = 1;
}

TEST_WITH(waits_add_up, prepare, finish)
{
    add_parts(0, .9, .2); // This process has ended.
    add_parts(1, .3, .1);
    add_parts(2, .4, NAN);
    merge_all((enum FoldAge[]){FOLD_ENDED, FOLD_LIVE, FOLD_LIVE});
    assert_int_equal(row("work")->wait_count, 1);
    assert_float_equal(row("work")->waits->of[WAITS_SOCKET], .7, 1e-9);
    assert_true(row("work")->waits->of[WAITS_LOCK] == 0);
    assert_float_equal(row("work")->total_parts->c, .1, 1e-9);
    assert_float_equal(row("work")->total_parts->waits[WAITS_SOCKET], .7, 1e-9);
    assert_true(isnan(row("work")->total_parts->gc));
}

TEST_WITH(nobody_has_waited, prepare, finish)
{
    add(0, 1)->calls = 1;
    add(1, 1)->calls = 1;
    merge_all(LIVE);
    assert_int_equal(row("work")->wait_count, 0);
    assert_int_equal(row("work")->total_part_count, 0);
}

TEST_WITH(means_and_medians_are_weighted_by_calls, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct Function *work = add(i, 1);
        work->calls = i == 2 ? 60 : 20;
        work->avg_cycles = work->await_s = 10 * (i + 1);
        work->p50_cycles = work->wall_p50_s = i + 1;
        work->p99_cycles = work->wall_max_s = 9 - i;
        work->min_cycles = 5 + i;
    }
    merge_all(LIVE);
    assert_float_equal(row("work")->avg_cycles, 24, 1e-9);
    assert_float_equal(row("work")->await_s, 24, 1e-9);
    assert_float_equal(row("work")->p50_cycles, 3, 1e-9);
    assert_float_equal(row("work")->wall_p50_s, 3, 1e-9);
    assert_float_equal(row("work")->p99_cycles, 9, 1e-9);
    assert_float_equal(row("work")->wall_max_s, 9, 1e-9);
    assert_float_equal(row("work")->min_cycles, 5, 1e-9);
}

TEST_WITH(a_process_that_ended_leaves_its_counts_only, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct Function *work = add(i, 1);
        work->calls = 10;
        work->wall_max_s = i ? 1 : 8;
        work->wall_p99_s = work->calls_per_s = work->share = i ? 1 : 8;
        work->in_flight = 1;
        work->oldest_s = i ? 1 : 8;
    }
    merge_all((enum FoldAge[]){FOLD_ENDED, FOLD_SILENT, FOLD_LIVE});
    assert_int_equal(row("work")->calls, 30);
    assert_float_equal(row("work")->wall_max_s, 8, 1e-9);
    assert_float_equal(row("work")->wall_p99_s, 1, 1e-9);
    // If a process sends no snapshots any more, the age of its call still
    // grows, but its rate of calls is unknown.
    assert_float_equal(row("work")->calls_per_s, 1, 1e-9);
    assert_float_equal(row("work")->share, 1, 1e-9);
    assert_int_equal(row("work")->in_flight, 2);
    assert_float_equal(row("work")->oldest_s, 6, 1e-9);
}

TEST_WITH(a_sum_of_ended_processes_is_merged_again, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct Function *all = add(i, 2);
        all[0].calls = 1;
        all[1].calls = 100;
    }
    merge_all((enum FoldAge[]){FOLD_ENDED, FOLD_ENDED, FOLD_ENDED});
    struct Snapshot *sum = merged;
    struct MergePart again[] = {
        {.snapshot = sum},
        {.pid = 9, .snapshot = parts[2], .ids = &ids[2], .age = FOLD_LIVE}};
    struct MergeRequest request = {again, 2, 1, 30};
    merged = Merge_make(&merge, &request, NULL);
    Snapshot_free(sum);
    assert_int_equal(merged->function_count, 2);
    assert_int_equal(row("work")->calls, 4);
    assert_int_equal(row("other")->calls, 400);
}

TEST_WITH(ids_of_code_that_is_gone_are_forgotten, prepare, finish)
{
    uint64_t id = 0;
    for (int turn = 0; turn < 1000; turn++) {
        add(0, 1)->id = 1000 + (uint64_t)turn;
        merge_all(LIVE);
        assert_true(!turn || row("work")->id == id);
        id = row("work")->id;
    }
    assert_true(ids[0].capacity <= 512);
}

TEST_WITH(ids_of_callers_and_threads_are_those_of_the_rows, prepare, finish)
{
    for (int i = 0; i < 2; i++) {
        struct Function *all = add(i, 2);
        struct Caller *caller = Snapshot_alloc(parts[i], 2 * sizeof *caller);
        caller[0] = (struct Caller){all[1].id, .2};
        caller[1] = (struct Caller){NULL_U64, .1};
        all[0].callers = caller;
        all[0].caller_count = 2;
        struct Thread *thread = Snapshot_alloc(parts[i], sizeof *thread);
        *thread = (struct Thread){.tid = 500 + (uint64_t)i,
                                  .name = "MainThread",
                                  .functions = caller,
                                  .function_count = 1};
        parts[i]->threads = thread;
        parts[i]->thread_count = 1;
    }
    merge_all(LIVE);
    assert_int_equal(row("work")->caller_count, 2);
    assert_int_equal(row("work")->callers[0].id, row("other")->id);
    assert_float_equal(row("work")->callers[0].share, .4, 1e-9);
    assert_true(row("work")->callers[1].id == NULL_U64);
    assert_int_equal(merged->thread_count, 2);
    assert_string_equal(merged->threads[1].name, "11 MainThread");
    assert_int_equal(merged->threads[1].functions[0].id, row("other")->id);
}

TEST_WITH(the_worker_that_stands_out_is_named, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct Function *all = add(i, 2);
        all[0].share = i == 1 ? .6 : .1;
        all[0].wall_p99_s = i == 2 ? .5 : .01;
        all[1].share = .1 + .01 * i;
        // too short to stand out
        all[1].wall_p99_s = i == 0 ? .0009 : .0001;
    }
    merge_all(LIVE);
    const struct FunctionStandouts *work = &standouts.items[0];
    assert_int_equal(work->busy.pid, 11);
    assert_float_equal(work->busy.times, 6, 1e-9);
    assert_true(work->busy.out);
    assert_int_equal(work->slow.pid, 12);
    assert_true(work->slow.out);
    assert_int_equal(work[1].busy.pid, 12);
    assert_false(work[1].busy.out);
    assert_int_equal(work[1].slow.pid, 10);
    assert_false(work[1].slow.out);
}

// One merged row can contain several code objects of a process.
TEST_WITH(all_code_of_a_worker_counts_for_standing_out, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct Function *all = add(i, 3);
        all[1].name = all[2].name = "work";
        all[0].share = i ? .1 : NAN;
        all[1].share = i == 2 ? .5 : .1;
        all[2].share = i ? .1 : NAN;
    }
    merge_all(LIVE);
    assert_int_equal(standouts.items[0].busy.pid, 12);
    assert_float_equal(standouts.items[0].busy.times, .7 / .2, 1e-9);
}

TEST_WITH(a_call_that_hangs_makes_its_worker_stand_out, prepare, finish)
{
    for (int i = 0; i < 3; i++) {
        struct Function *work = add(i, 1);
        work->calls = 1000;
        work->in_flight = 1;
        work->wall_p99_s = .01;
        work->oldest_s = i == 1 ? 60 : .001;
    }
    merge_all(LIVE);
    assert_int_equal(standouts.items[0].slow.pid, 11);
    assert_true(standouts.items[0].slow.out);
}

TEST(stacks_add_up_path_by_path)
{
    const struct FlameFunction named[] = {{7, "a", "f", 1, NULL_U64, NULL},
                                          {8, "b", "f", 2, NULL_U64, NULL},
                                          {FLAME_NATIVE_ID + 1, "c", "z.so",
                                           NULL_U64, 64, "ab"}},
                               others[] = {named[0],
                                           named[1],
                                           {FLAME_NATIVE_ID + 9, "c", "z.so",
                                            NULL_U64, 64, "ab"}};
    const struct FlameRow rows[] = {{NULL_U64, NULL_U64, .1, .0, 10, 0},
                                    {0, 7, .2, .1, 20, 5},
                                    {1, 8, .3, .0, 10, 0},
                                    // C functions have other ids in each
                                    // process
                                    {2, FLAME_NATIVE_ID, NAN, NAN, 5, 0},
                                    {3, FLAME_NATIVE_ID + 1, NAN, NAN, 15, 0}};
    const struct FlameWait waits[] = {{1, "lock", .5, 50}, {2, NULL, .1, 10}};
    struct FlameTable one = {.kept_s = 4,
                             .samples = 9,
                             .rows = rows,
                             .row_count = 5,
                             .functions = named,
                             .function_count = 3,
                             .waits = waits,
                             .wait_count = 2},
                      two = one;
    struct FlameRow moved[5];
    memcpy(moved, rows, sizeof moved);
    moved[4].id = FLAME_NATIVE_ID + 9;
    two.rows = moved;
    two.functions = others;
    struct IdMap first = {0}, second = {0};
    *IdMap_at(&first, 7) = 1;
    *IdMap_at(&first, 8) = 2;
    *IdMap_at(&second, 7) = 2; // Here the ids are exchanged.
    *IdMap_at(&second, 8) = 1;
    struct MergeStacks all[] = {
        {&one, &first}, {&two, &first}, {&one, &second}};
    struct FlameTable *sum = MergeStacks_make(all, 3);
    assert_non_null(sum);
    assert_int_equal(sum->samples, 27);
    assert_int_equal(sum->row_count, 9);
    assert_int_equal(sum->function_count, 3);
    assert_int_equal(sum->rows[0].cpu_ns, 30);
    assert_int_equal(sum->rows[1].cpu_ns, 40);
    assert_float_equal(sum->rows[2].share, .6, 1e-9);
    assert_int_equal(sum->rows[2].cpu_ns, 20);
    assert_int_equal(sum->rows[3].id, FLAME_NATIVE_ID);
    assert_int_equal(sum->rows[4].id, sum->functions[2].id);
    assert_int_equal(sum->rows[4].cpu_ns, 30);
    assert_string_equal(sum->functions[2].build, "ab");
    assert_int_equal(sum->rows[5].id, 2);
    assert_int_equal(sum->rows[6].parent, 5);
    assert_int_equal(sum->wait_count, 4);
    assert_int_equal(sum->waits[0].parent, 1);
    assert_string_equal(sum->waits[0].kind, "lock");
    assert_float_equal(sum->waits[0].share, 1, 1e-9);
    assert_int_equal(sum->waits[1].ns, 20);
    assert_null(sum->waits[1].kind);
    assert_int_equal(sum->waits[2].parent, 5);
    assert_int_equal(sum->waits[2].ns, 50);
    FlameTable_free(sum);
    IdMap_release(&first);
    IdMap_release(&second);
}

TEST(hostile_root_id)
{
    enum { ROWS = 60000 };
    struct FlameRow *rows = calloc(ROWS, sizeof *rows);
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = (struct FlameRow){
            i ? 0 : NULL_U64, i ? 100 + i : NULL_U64, .1, 0, 1, 0};
    struct FlameTable one = {.rows = rows, .row_count = ROWS};
    const uint64_t r = ROWS;
    const struct FlameRow bad[] = {
        {NULL_U64, (UINT64_C(0xFFFFFF) << 40) ^ (r << 40) ^ FLAME_WAIT_ID, .1,
         0, 1, 0}};
    const struct FlameWait waits[] = {{0, "socket", .5, 50}};
    struct FlameTable two = {
        .rows = bad, .row_count = 1, .waits = waits, .wait_count = 1};
    struct IdMap known = {0};
    *IdMap_at(&known, 7) = 1;
    struct MergeStacks all[] = {{&one, &known}, {&two, &known}};
    struct FlameTable *sum = MergeStacks_make(all, 2);
    assert_int_equal(sum->wait_count, 1);
    FlameTable_free(sum);
    IdMap_release(&known);
    free(rows);
}
