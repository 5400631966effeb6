// SPDX-License-Identifier: MIT
// tracer/timeline/mark: texts in eight bytes an event, and together again.
#include "tracer/timeline/mark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct Ring *ring;

static void push(const char *name, const char *args, uint32_t number)
{
    struct Mark mark = {EVENT_SPAN_BEGIN, number, name,
                        strlen(name),     args,   strlen(args)};

    Mark_push(ring, 77, &mark);
}

// Takes the events of one mark, but for the first `skip`.
static struct Mark take(struct MarkText *text, size_t skip)
{
    const struct Event *events;
    size_t count = Ring_peek(ring, &events), i;
    struct Mark mark = {0};

    for (i = skip; i < count; i++) {
        assert_int_equal(Event_ticks(&events[i]), 77);
        if (Event_kind(&events[i]) == EVENT_TEXT)
            MarkText_add(text, &events[i]);
        else
            mark = MarkText_take(text, &events[i]);
    }
    Ring_pop(ring, count);
    return mark;
}

static void check(const struct Mark *mark, const char *name, const char *args)
{
    assert_int_equal(mark->name_size, strlen(name));
    assert_memory_equal(mark->name, name, mark->name_size);
    assert_int_equal(mark->args_size, strlen(args));
    assert_memory_equal(mark->args, args, mark->args_size);
}

static void test_texts_of_all_sizes(void **state)
{
    struct MarkText text = {{0}, 0};
    char name[MARK_NAME + 1], args[MARK_ARGS + 1];
    size_t size;

    (void)state;
    memset(name, 'n', sizeof name);
    memset(args, 'a', sizeof args);
    for (size = 0; size <= MARK_NAME; size++) {
        struct Mark mark;

        name[size] = args[5 * size] = 0;
        push(name, args, (uint32_t)size << 20 | 5);
        mark = take(&text, 0);
        check(&mark, name, args);
        assert_int_equal(mark.kind, EVENT_SPAN_BEGIN);
        assert_int_equal(mark.number, size << 20 | 5);
        name[size] = 'n';
        args[5 * size] = 'a';
    }
}

static void test_longer_texts_are_cut(void **state)
{
    struct MarkText text = {{0}, 0};
    char name[4 * MARK_NAME], args[4 * MARK_ARGS];
    struct Mark mark;

    (void)state;
    memset(name, 'n', sizeof name);
    memset(args, 'a', sizeof args);
    name[sizeof name - 1] = args[sizeof args - 1] = 0;
    push(name, args, 1);
    name[MARK_NAME] = 0;
    mark = take(&text, 0);
    check(&mark, name, "");
}

// Events before it are forgotten, or more than one mark's are there.
static void test_what_is_not_whole_has_no_text(void **state)
{
    struct MarkText text = {{0}, 0};
    struct Mark mark;

    (void)state;
    push("a name of some length", "{}", 3);
    mark = take(&text, 1);
    check(&mark, "(lost)", "");
    assert_int_equal(mark.number, 3);
    push("another", "{}", 4);
    mark = take(&text, 0);
    check(&mark, "another", "{}");
    for (int i = 0; i < 1000; i++)
        MarkText_add(&text, &(struct Event){0, 1});
    push("another", "{}", 4);
    mark = take(&text, 0);
    check(&mark, "(lost)", "");
    MarkText_add(&text, &(struct Event){0, 1});
    MarkText_clear(&text);
    push("another", "", 4);
    mark = take(&text, 0);
    check(&mark, "another", "");
}

static int set_up(void **state)
{
    (void)state;
    ring = Ring_new(NULL);
    return ring ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    Ring_free(ring);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_of_all_sizes),
        cmocka_unit_test(test_longer_texts_are_cut),
        cmocka_unit_test(test_what_is_not_whole_has_no_text),
    };

    return cmocka_run_group_tests_name("tracer/timeline/mark", tests, set_up,
                                       tear_down);
}
