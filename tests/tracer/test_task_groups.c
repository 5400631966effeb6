// SPDX-License-Identifier: MIT
// Tests how asyncio's tasks are counted in groups, in virtual time.
#include "tests/unit.h"
#include "tracer/session/task_groups.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct TaskLine WORKER = {"worker", "/a.py", 3, 7, false};

static struct TaskGroups groups;
static struct TaskBoard board;
static struct TaskTable *table;   // The newest table.
static struct Snapshot *snapshot; // A snapshot with the groups.

static void set_up(void)
{
    groups = (struct TaskGroups){.all = NULL};
    table = NULL;
    snapshot = NULL;
    TaskBoard_init(&board);
}

static void tear_down(void)
{
    Snapshot_free(snapshot);
    TaskTable_free(table);
    TaskBoard_release(&board);
    TaskGroups_release(&groups);
}

static void look(double at_s)
{
    TaskTable_free(table);
    table = TaskGroups_table(&groups, true, at_s);
}

// Reads all tasks, finds `count` tasks of WORKER, and makes the table.
static void walk(unsigned count, double at_s)
{
    struct CountedTasks *group;

    assert_true(TaskGroups_begin(&groups, at_s));
    for (unsigned i = 0; i < count; i++) {
        group = TaskGroups_find(&groups, &WORKER);
        assert_non_null(group);
        TaskGroups_add(&groups, group, NULL, 0);
    }
    TaskGroups_end(&groups, at_s);
    look(at_s);
}

TEST_WITH(a_leak_grows_and_a_pool_does_not, set_up, tear_down)
{
    // The program starts three tasks a second, for two minutes.
    for (int s = 0; s <= 120; s++) {
        walk(10 + 3 * (unsigned)s, 1000 + s);
    }
    assert_float_equal(table->groups[0].growth_per_min, 180, 1);
    assert_float_equal(table->groups[0].growing_s, 119, 1e-6);
    // For a minute, the number of tasks does not change.
    for (int s = 121; s <= 181; s++) {
        walk(370, 1000 + s);
    }
    assert_float_equal(table->groups[0].growth_per_min, 0, 1);
    assert_true(isnan(table->groups[0].growing_s));
    // The size of a pool of tasks goes up and down.
    for (int s = 182; s <= 300; s++) {
        walk(370 + (unsigned)(s % 20), 1000 + s);
        // From 200 s on, the pool shrinks every 20 s.
        assert_false(s > 200 && table->groups[0].growing_s >= 20);
    }
    assert_true(fabs(table->groups[0].growth_per_min) <= 20);
}

TEST_WITH(a_group_that_grows_now_and_then_is_no_leak, set_up, tear_down)
{
    for (int s = 0; s <= 900; s++) {
        // After ten minutes the group gets two more tasks, one after the other.
        // After a pause without walks, the group has 50 more, and then gets
        // three.
        unsigned count = 10 + (s >= 600) + (s >= 610) + 50 * (s >= 700) +
                         (s >= 705) + (s >= 706) + (s >= 707);

        if (s == 700)
            TaskGroups_interrupt(&groups);
        walk(count, 1000 + s);
        assert_false(table->groups[0].growing_s > 2);
        assert_true(isnan(table->groups[0].growing_s) == (s < 707 || s > 766));
    }
}

TEST_WITH(a_task_that_begins_later_is_no_leak, set_up, tear_down)
{
    for (int s = 0; s <= 120; s++) {
        walk(s >= 20, 1000 + s);
        assert_true(s < 20 || isnan(table->groups[0].growing_s));
    }
}

TEST_WITH(a_group_that_begins_later_has_grown_from_nothing, set_up, tear_down)
{
    walk(0, 100);
    assert_int_equal(table->count, 0);
    assert_int_equal(table->total, 0);
    walk(50, 130);
    assert_float_equal(table->groups[0].growth_per_min, 100, 1e-6);
    // The group has no tasks any more, and its entry becomes free.
    for (int s = 0; s <= 130; s++)
        walk(0, 131 + s);
    assert_null(groups.all[0].coroutine.name);
}

TEST_WITH(the_number_of_a_task_shows_its_least_age, set_up, tear_down)
{
    struct CountedTasks *group;

    assert_true(TaskGroups_begin(&groups, 100));
    // There are too many births of tasks, so the oldest ones are forgotten.
    for (unsigned i = 0; i <= 1000; i++)
        TaskGroups_note_birth(&groups, 10 + i, 100 + i);
    group = TaskGroups_find(&groups, &WORKER);
    // The program gave this task a name.
    TaskGroups_add(&groups, group, NULL, 0);
    TaskGroups_end(&groups, 1100);
    look(1100);
    assert_true(isnan(table->groups[0].oldest_s));

    TaskGroups_add(&groups, group, NULL, 700);
    TaskGroups_add(&groups, group, NULL, 510); // This task was born at 600 s.
    look(1100);
    assert_true(table->groups[0].oldest_s <= 500);
    assert_true(table->groups[0].oldest_s > 400);
    // This task is older than all known tasks.
    TaskGroups_add(&groups, group, NULL, 9);
    look(1100);
    assert_float_equal(table->groups[0].oldest_s, 1000, 1e-6);
}

// Walks over all tasks once, and finds the tasks of WORKER with the numbers
// from `lowest` to `highest`. Returns the first row.
static struct TaskGroup ages(uint64_t lowest, uint64_t highest, double at_s)
{
    struct TaskGroup row;

    assert_true(TaskGroups_begin(&groups, at_s));
    for (uint64_t number = lowest; number <= highest; number++) {
        TaskGroups_add(&groups, TaskGroups_find(&groups, &WORKER), NULL,
                       number);
        TaskGroups_note_birth(&groups, number, at_s);
    }
    TaskGroups_end(&groups, at_s);
    look(at_s);
    row = table->groups[0];
    return row;
}

TEST_WITH(the_age_of_a_task_from_before_the_first_walk_is_a_lower_bound, set_up,
          tear_down)
{
    struct TaskGroup row = ages(1, 10, 100);

    assert_true(row.oldest_is_least);
    assert_float_equal(row.oldest_s, 0, 1e-9);
    row = ages(10, 11, 101);
    assert_true(row.oldest_is_least);
    assert_float_equal(row.oldest_s, 1, 1e-9);
    row = ages(11, 20, 130);
    assert_false(row.oldest_is_least);
    assert_float_equal(row.oldest_s, 29, 1e-9);
    TaskGroups_interrupt(&groups);
    row = ages(25, 30, 160);
    assert_true(row.oldest_is_least);
    row = ages(31, 31, 161);
    assert_false(row.oldest_is_least);
}

TEST_WITH(an_age_is_right_after_a_day, set_up, tear_down)
{
    struct TaskGroup row = ages(1, 1, 100);
    uint64_t second = 1;

    while (second++ < 86400) // The program starts one new task a second.
        TaskGroups_note_birth(&groups, second, 99 + (double)second);
    for (double age = 2; age < 86400; age *= 3) {
        row = ages(second - (uint64_t)age, second, 99 + second);
        assert_true(row.oldest_s <= age);
        assert_true(row.oldest_s >= .75 * age - 2);
    }
}

// Adds a task with this number and these lines of its stack to the group.
static void list(struct CountedTasks *group, uint64_t number,
                 const struct TaskLine *const lines[])
{
    struct ListedTask *task = TaskList_add(&group->oldest, number);

    TaskGroups_add(&groups, group, NULL, number);
    if (!task)
        return;
    snprintf(task->name, sizeof task->name, "Task-%u", (unsigned)number);
    task->state = "waits";
    for (; *lines; lines++)
        ListedTask_add_line(task, TaskLines_add(&groups.lines, *lines));
}

// Makes a snapshot that contains the groups.
static void show(double now_s)
{
    snapshot = Snapshot_new();
    assert_non_null(snapshot);
    TaskBoard_set(&board, TaskGroups_table(&groups, true, now_s));
    TaskBoard_fill(&board, snapshot);
}

static const struct TaskLine OUTER = {"worker", "/a.py", 5, 7, false};
static const struct TaskLine INNER = {"wait", NULL, 0, 0, false};

TEST_WITH(a_long_chain_keeps_its_innermost_line, set_up, tear_down)
{
    const struct TaskLine *lines[TASK_CHAIN + 4] = {NULL};
    const struct TaskGroup *row;

    assert_true(TaskBoard_ask_group(&board, TASK_KEY_ALL));
    for (unsigned i = 0; i < TASK_CHAIN + 2; i++)
        lines[i] = &OUTER;
    lines[TASK_CHAIN + 2] = &INNER;
    // A second walk reads the tasks again.
    for (unsigned i = 0; i < 2; i++) {
        assert_true(TaskGroups_begin(&groups, 100));
        list(TaskGroups_find(&groups, &WORKER), 9, lines);
    }
    show(100);
    row = snapshot->tasks_groups;
    assert_int_equal(row->task_count, 1);
    assert_int_equal(row->tasks[0].chain_count, TASK_CHAIN);
    assert_string_equal(row->tasks[0].chain[0].name, "worker");
    assert_string_equal(row->tasks[0].chain[TASK_CHAIN - 1].name, "wait");
}

TEST_WITH(single_tasks_of_a_few_groups_are_shown, set_up, tear_down)
{
    const struct TaskLine *const lines[] = {&INNER, NULL};
    unsigned listed = 0;
    char name[16];

    assert_true(TaskGroups_begin(&groups, 100));
    for (unsigned i = 0; i < TASK_REQUESTS + 1; i++) {
        const struct TaskLine line = {name, NULL, 0, 0, false};
        const struct TaskGroup group = {.coroutine = name, .line = NULL_U64};

        snprintf(name, sizeof name, "f%u", i);
        list(TaskGroups_find(&groups, &line), i + 1, lines);
        TaskBoard_ask_group(&board, TaskGroup_key(&group));
        TaskBoard_ask_group(&board, TaskGroup_key(&group));
    }
    show(100);
    for (unsigned i = 0; i < TASK_REQUESTS + 1; i++) {
        const struct TaskGroup *row = &snapshot->tasks_groups[i];

        listed += row->task_count == 1;
        // The oldest request, for f0, is forgotten.
        assert_true(!row->task_count == !strcmp(row->coroutine, "f0"));
    }
    assert_int_equal(listed, TASK_REQUESTS);
}

// If a snapshot has no room for all tasks, it contains those of the group that
// a viewer asked for.
TEST_WITH(a_group_that_was_asked_for_comes_first, set_up, tear_down)
{
    const struct TaskLine *const lines[] = {&INNER, NULL};
    const struct TaskGroup last = {.coroutine = "f10", .line = NULL_U64};
    uint64_t listed = 0;
    char name[16];

    TaskBoard_ask_group(&board, TaskGroup_key(&last));
    assert_true(TaskGroups_begin(&groups, 100));
    for (unsigned i = 0; i <= 10; i++) {
        const struct TaskLine line = {name, NULL, 0, 0, false};

        snprintf(name, sizeof name, "f%u", i);
        for (unsigned task = 0; task < 140; task++) {
            struct CountedTasks *group = TaskGroups_find(&groups, &line);

            if (!task)
                TaskList_prepare(
                    &group->oldest,
                    TaskBoard_is_shown(&board, CountedTasks_key(group)));
            list(group, ++listed, lines);
        }
    }
    TaskBoard_ask_group(&board, TASK_KEY_ALL);
    show(100);
    listed = 0;
    for (size_t i = 0; i < snapshot->tasks_group_count; i++) {
        const struct TaskGroup *row = &snapshot->tasks_groups[i];

        listed += row->task_count;
        if (strcmp(row->coroutine, "f10") == 0)
            assert_int_equal(row->task_count, 140);
    }
    assert_int_equal(listed, 500);
}

TEST_WITH(too_many_groups_and_lines_are_only_counted, set_up, tear_down)
{
    struct CountedTasks *group = NULL;
    char name[16];

    assert_true(TaskGroups_begin(&groups, 100));
    for (unsigned i = 0; i < TASK_GROUPS + 5; i++) {
        const struct TaskLine line = {name, NULL, 0, 0, false};

        snprintf(name, sizeof name, "f%u", i);
        group = TaskGroups_find(&groups, &line);
        assert_true(!group == (i >= TASK_GROUPS));
        TaskGroups_add(&groups, group, NULL, 0);
    }
    group = &groups.all[0];
    for (unsigned i = 0; i < TASK_WAITS + 1; i++) {
        const struct TaskLine line = {"wait", NULL, i + 1, 0, false};
        struct TaskWait *wait = TaskGroups_wait(group, &line);

        assert_true(!wait == (i >= TASK_WAITS));
        TaskGroups_add(&groups, group, wait, 0);
    }
    TaskGroups_end(&groups, 100);
    look(100);
    assert_int_equal(table->total, TASK_GROUPS + 5 + TASK_WAITS + 1);
    assert_int_equal(table->count, TASK_GROUPS);
    assert_int_equal(table->groups[0].count, TASK_WAITS + 2);
}
