// SPDX-License-Identifier: MIT
// Tests tracer/code/transitions. The log is limited, no count is lost, and a
// reader can run beside a writer.
#include "tracer/code/transitions.h"

#include "tests/tracer/make_opcodes.h"

#include <pthread.h>

#include "tests/unit.h"

struct Fixture {
    struct Opcodes opcodes;
    struct Clock clock;
    struct Transitions log;
    struct Snapshot *snapshot;
};

static void add(struct Fixture *f, uint32_t id, int from, int to)
{
    char function[32], file[32];
    struct Change change = {.ticks = f->log.start_ticks + id,
                            .id = id,
                            .line = id,
                            .offset = 2 * id,
                            .from = (uint8_t)from,
                            .to = (uint8_t)to,
                            .storm = id % 2,
                            .function = function,
                            .file = file};

    snprintf(function, sizeof function, "function_%u", (unsigned)id);
    snprintf(file, sizeof file, "file_%u.py", (unsigned)id);
    Transitions_lock(&f->log);
    Transitions_add(&f->log, &change);
    Transitions_unlock(&f->log);
}

static const struct Snapshot *fill(struct Fixture *f)
{
    Snapshot_free(f->snapshot);
    f->snapshot = Snapshot_new();
    assert_true(Transitions_fill(&f->log, f->snapshot));
    return f->snapshot;
}

static uint64_t sum(const struct Snapshot *s)
{
    uint64_t total = 0;

    for (size_t i = 0; i < s->transition_pair_count; i++)
        total += s->transition_pairs[i].count;
    return total;
}

// There are more pairs of opcodes than any CPython has. If the table has no
// free slot for a pair, the pair is counted in `other`.
TEST_FIXTURE(test_pairs_without_end)
{
    const struct Snapshot *s;

    for (int from = 0; from < 256; from++)
        for (int to = 0; to < 256; to++)
            add(f, 1, from, to);
    s = fill(f);
    assert_int_equal(sum(s), 256 * 256);
    assert_true(s->transition_pair_count <= TRANSITIONS_PAIRS + 1);
    assert_string_equal(s->transition_pairs[0].from, "(other)");
}

// All changes that one scan finds share a copy of the names.
TEST_FIXTURE(test_names_are_shared)
{
    size_t one;

    add(f, 1, BINARY_OP, BINARY_OP_ADD_INT);
    one = Transitions_bytes(&f->log);
    add(f, 1, FOR_ITER, FOR_ITER_RANGE);
    assert_int_equal(Transitions_bytes(&f->log), one);
    add(f, 2, FOR_ITER, FOR_ITER_RANGE);
    assert_int_equal(Transitions_bytes(&f->log), 2 * one);
    // The first name is freed, and then comes again.
    for (int i = 0; i < 3 * TRANSITIONS_KEPT; i++)
        add(f, 1, FOR_ITER, FOR_ITER_RANGE);
    assert_string_equal(fill(f)->transitions[0].function, "function_1");
    assert_int_equal(Transitions_bytes(&f->log), one);
}

enum { ADDITIONS = 20000 };

static void *write_all(void *context)
{
    for (uint32_t i = 1; i <= ADDITIONS; i++)
        add(context, i, BINARY_OP, BINARY_OP_ADD_INT);
    return NULL;
}

// Each snapshot that the reader sees is complete, with consecutive ids and the
// names that belong to these ids.
static void expect_whole(const struct Snapshot *s)
{
    for (size_t i = 0; i < s->transition_count; i++) {
        const struct Transition *t = &s->transitions[i];
        char name[32];

        snprintf(name, sizeof name, "function_%u", (unsigned)t->id);
        assert_string_equal(t->function, name);
        assert_int_equal(t->id, s->transitions[0].id - i);
    }
    assert_int_equal(sum(s), s->transition_count ? s->transitions[0].id : 0);
}

TEST_FIXTURE(test_reader_and_writer)
{
    pthread_t thread;
    uint64_t newest = 0;

    assert_int_equal(pthread_create(&thread, NULL, write_all, f), 0);
    while (newest < ADDITIONS) {
        expect_whole(fill(f));
        Transitions_bytes(&f->log);
        if (f->snapshot->transition_count)
            newest = f->snapshot->transitions[0].id;
    }
    pthread_join(thread, NULL);
}

static void set_up(struct Fixture *f)
{
    make_opcodes(&f->opcodes);
    Clock_start(&f->clock);
    Transitions_init(&f->log, &f->opcodes, &f->clock, Clock_read(&f->clock));
}

static void tear_down(struct Fixture *f)
{
    Snapshot_free(f->snapshot);
    Transitions_release(&f->log);
}
