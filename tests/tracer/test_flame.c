// SPDX-License-Identifier: MIT
// Tests tracer/sample/flame. The tests check the decay of times, and the size
// limit of the tree of stacks.
#include "tracer/sample/flame.h"

#include <math.h>

#include "tests/unit.h"

#define S 1e9
#define PATH(...)                                                              \
    (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

static struct Flame flame;
static struct ShareClock watch;

// Lets `s` seconds pass in which the program runs only with this stack.
static void add(double s, const uint32_t *path, size_t depth)
{
    struct FlameSample sample = {.path = path, .depth = depth, .cpu_ns = s * S};
    struct ShareTime now;

    ShareClock_advance(&watch, s * S, 0);
    now = ShareClock_now(&watch);
    Flame_add(&flame, &now, &sample);
}

static struct FlameTable *ask_most(size_t most)
{
    struct ShareTime now = ShareClock_now(&watch);
    struct FlameTable *table = Flame_read(&flame, &now, most);

    assert_non_null(table);
    assert_true(table->row_count <= most);
    // Parents come before their children.
    for (size_t i = 0; i < table->row_count; i++)
        assert_true(i ? table->rows[i].parent < i
                      : table->rows[i].parent == NULL_U64);
    return table;
}

static struct FlameTable *ask(void)
{
    return ask_most(FLAME_NODES);
}

// Returns the row of a path of functions, or NULL.
static const struct FlameRow *find(const struct FlameTable *table,
                                   const uint32_t *path, size_t depth)
{
    size_t at = 0;

    for (size_t step = 0; step < depth; step++) {
        uint64_t id = path[step] ? path[step] : NULL_U64;
        size_t i = 1;

        while (i < table->row_count &&
               (table->rows[i].parent != at || table->rows[i].id != id))
            i++;
        if (i == table->row_count)
            return NULL;
        at = i;
    }
    return &table->rows[at];
}

static void set_up(void), tear_down(void);

TEST_WITH(test_it_fades, set_up, tear_down)
{
    struct FlameTable *table;

    for (int i = 0; i < 600; i++)
        add(0.1, PATH(i < 300 ? 1 : 2));
    table = ask(); // Each path ran for 30 s.
    assert_float_equal(find(table, PATH(1))->share /
                           find(table, PATH(2))->share,
                       exp(-1), 0.001);
    FlameTable_free(table);
    ShareClock_advance(&watch, 1000 * S, 0);
    add(10, PATH(2));
    table = ask();
    // The path has almost no share of the window, but its time in the whole run
    // is kept.
    assert_true(find(table, PATH(1))->share < 1e-5);
    assert_int_equal(find(table, PATH(1))->cpu_ns, 30 * S);
    assert_int_equal(find(table, PATH(2))->cpu_ns, 40 * S);
    FlameTable_free(table);
}

#define WAIT(kind) (FLAME_WAIT_ID + (kind))

// Returns the ns of all waits of a kind below a row, or below any row if `row`
// is NULL.
static uint64_t waited(const struct FlameTable *table,
                       const struct FlameRow *row, unsigned kind)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < table->wait_count; i++) {
        const struct FlameWait *wait = &table->waits[i];

        assert_true(wait->parent < table->row_count);
        if ((!row || row == &table->rows[wait->parent]) &&
            WaitKind_of(wait->kind) == kind)
            ns += wait->ns;
    }
    return ns;
}

// Waits of an unknown kind are divided in the ratio of the known waits of the
// same path.
TEST_WITH(test_waits, set_up, tear_down)
{
    const struct FlameRow *row;
    struct FlameTable *table;

    add(4, PATH(1, 2));
    add(3, PATH(1, 2, WAIT(WAITS_LOCK)));
    add(1, PATH(1, 2, WAIT(WAITS_SLEEP)));
    add(1, PATH(1, 2, WAIT(WAIT_UNKNOWN)));
    add(1, PATH(1, WAIT(WAIT_UNKNOWN)));
    table = ask();
    assert_int_equal(table->row_count, 3);
    assert_int_equal(table->samples, 1);
    assert_int_equal(table->wait_count, 3);
    row = find(table, PATH(1, 2));
    assert_int_equal(row->cpu_ns, 4 * S);
    assert_int_equal(waited(table, row, WAITS_LOCK), 3.75 * S);
    assert_int_equal(waited(table, row, WAITS_SLEEP), 1.25 * S);
    assert_int_equal(waited(table, find(table, PATH(1)), WAIT_UNKNOWN), S);
    assert_float_equal(table->waits[0].share + table->waits[1].share +
                           table->waits[2].share + row->share,
                       1, 1e-6);
    FlameTable_free(table);
}

// Even if there are too many paths, no waiting time is lost or becomes CPU
// time.
TEST_WITH(test_waits_are_bounded, set_up, tear_down)
{
    struct FlameTable *table;

    for (uint32_t i = 1; i <= 60000; i++) {
        add(1e-3,
            PATH(1, i % 300, 1000 + i, WAIT(i % 2 ? WAITS_LOCK : WAITS_GIL)));
        add(1e-3, PATH(1, 2, WAIT(WAITS_LOCK)));
        add(1e-3, PATH(1, 2));
        assert_true(flame.count <= FLAME_NODES);
    }
    for (size_t most = FLAME_NODES; most; most = most == 1   ? 0
                                                 : most > 50 ? 50
                                                             : 1) {
        uint64_t cpu_ns = 0;

        table = ask_most(most);
        assert_true(table->wait_count <= most + FLAME_OWN_WAITS);
        for (size_t i = 0; i < table->row_count; i++)
            cpu_ns += table->rows[i].cpu_ns;
        assert_int_equal(cpu_ns, 60 * S);
        assert_int_equal(waited(table, NULL, WAITS_LOCK), 90 * S);
        assert_int_equal(waited(table, NULL, WAITS_GIL), 30 * S);
        if (most > 1)
            assert_true(waited(table, find(table, PATH(1, 2)), WAITS_LOCK) >=
                        60 * S);
        FlameTable_free(table);
    }
}

static void set_up(void)
{
    Flame_init(&flame);
    watch = (struct ShareClock){0};
}

static void tear_down(void)
{
    Flame_release(&flame);
}
