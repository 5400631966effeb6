// SPDX-License-Identifier: MIT
// What the JSON file has of our own threads' track: stretches in which
// functions were dark, cut where the file begins and ends, and samples with
// their stacks. pytest compares both formats (tests/python/test_formats.py).
#include "tracer/timeline/own_events.h"
#include "tracer/timeline/perfetto.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/ocular-own-XXXXXX";

static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static char text[16];

    (void)context;
    snprintf(text, sizeof text, "f%u", id);
    *name = (struct PerfettoName){text, "/src/a.py", id, 0xabc000 + id};
    return true;
}

// The events with that phase and, if it is not NULL, category; an array.
static struct json_object *events_of(struct json_object *root,
                                     const char *phase, const char *category)
{
    struct json_object *all = json_object_object_get(root, "traceEvents");
    struct json_object *found = json_object_new_array();
    size_t i;

    for (i = 0; i < json_object_array_length(all); i++) {
        struct json_object *event = json_object_array_get_idx(all, i);
        struct json_object *is = json_object_object_get(event, "cat");

        if (strcmp(json_object_get_string(json_object_object_get(event, "ph")),
                   phase) == 0 &&
            (!category ||
             (is && !strcmp(json_object_get_string(is), category))))
            json_object_array_add(found, json_object_get(event));
    }
    return found;
}

// The file of the timeline, which goes; ticks are ns, and 0 is at 1000.
static struct json_object *write_and_read(struct Timeline *timeline,
                                          struct PerfettoTrace trace)
{
    struct TimelineView *view = Timeline_freeze(timeline);
    struct PerfettoResult result;
    struct json_object *root;

    trace.view = view;
    trace.pid = 4242;
    trace.start_ticks = 1000;
    trace.hz = 1e9;
    trace.overwrite = true;
    trace.name = name_of;
    assert_int_equal(Perfetto_write(&trace, path, &result), 0);
    root = json_object_from_file(path);
    assert_non_null(root);
    TimelineView_free(view);
    Timeline_free(timeline);
    return root;
}

// "NAME BEGIN END" of each stretch, with a "<" or ">" where it was cut.
static char *stretches(struct json_object *root)
{
    static char text[500];
    struct json_object *begins = events_of(root, "b", "dark");
    struct json_object *ends = events_of(root, "e", "dark");
    size_t i, count = json_object_array_length(begins);

    assert_int_equal(json_object_array_length(ends), count);
    *text = 0;
    for (i = 0; i < count; i++) {
        struct json_object *begin = json_object_array_get_idx(begins, i);
        struct json_object *end = json_object_array_get_idx(ends, i);
        struct json_object *args = json_object_object_get(begin, "args");
        struct json_object *why = json_object_object_get(end, "args");

        assert_string_equal(
            json_object_to_json_string(json_object_object_get(begin, "id2")),
            json_object_to_json_string(json_object_object_get(end, "id2")));
        assert_string_equal(
            json_object_get_string(json_object_object_get(args, "file")),
            "/src/a.py");
        snprintf(
            text + strlen(text), sizeof text - strlen(text),
            "%s %s%.0f %.0f%s;",
            json_object_get_string(json_object_object_get(begin, "name")),
            json_object_object_get(args, "earlier") ? "<" : "",
            1000 * json_object_get_double(json_object_object_get(begin, "ts")),
            1000 * json_object_get_double(json_object_object_get(end, "ts")),
            json_object_object_get(why, "open") ? ">" : "");
    }
    json_object_put(begins);
    json_object_put(ends);
    json_object_put(root);
    return text;
}

static void add(struct Timeline *timeline, struct Event event)
{
    assert_int_equal(Timeline_add(timeline, &event, 1), 0);
}

// --- Tests -------------------------------------------------------------------

static void dark_ticks_are_nearly_exact(void **state)
{
    uint64_t ticks;
    struct Event event;

    (void)state;
    for (ticks = 1; ticks < UINT64_C(1) << 58; ticks = ticks * 3 + 1) {
        uint64_t found;

        event = Aside_rearmed(5, UINT32_MAX, ticks);
        found = Aside_dark_ticks(&event);
        assert_int_equal(Event_kind(&event), EVENT_REARMED);
        assert_int_equal(Event_id(&event), UINT32_MAX);
        assert_true(found <= ticks);
        assert_true(ticks - found <= ticks >> 26);
        if (ticks < 1u << 27)
            assert_int_equal(found, ticks);
    }
}

static void stretches_end_where_functions_are_armed(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);

    (void)state;
    add(timeline, Aside_counter(2000, ASIDE_ARMED, 0, 1, 0));
    add(timeline, Aside_rearmed(5000, 1, 2000));
    add(timeline, Aside_rearmed(6000, 2, 3500));
    add(timeline, Aside_rearmed(9000, 1, 1000));
    assert_string_equal(
        stretches(write_and_read(timeline, (struct PerfettoTrace){0})),
        "f1 2000 4000;f2 1500 5000;f1 7000 8000;");
}

static void they_are_cut_where_the_file_begins_and_ends(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct DarkFunction dark[] = {{1500, 3}, {7000, 4}, {9500, 5}};

    (void)state;
    add(timeline, Aside_counter(2000, ASIDE_ARMED, 0, 1, 0));
    add(timeline, Aside_rearmed(2000, 1, 900)); // over by then
    add(timeline, Aside_rearmed(5000, 2, 4000));
    add(timeline, Aside_counter(9000, ASIDE_ARMED, 0, 1, 0));
    assert_string_equal(
        stretches(write_and_read(timeline,
                                 (struct PerfettoTrace){.dark = dark,
                                                        .dark_count = 3,
                                                        .dark_ticks = 9900})),
        "f2 <1000 4000;f3 <1000 8000>;f4 6000 8000>;");
}

// Between the moment of the list and that of the timeline.
static void what_is_armed_meanwhile_comes_once(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct DarkFunction dark[] = {{3000, 1}, {7000, 2}};

    (void)state;
    add(timeline, Aside_counter(2000, ASIDE_ARMED, 0, 1, 0));
    add(timeline, Aside_rearmed(6500, 2, 1500)); // and dark again before it
    add(timeline, Aside_rearmed(8000, 1, 5000));
    add(timeline, Aside_rearmed(8500, 3, 500)); // before it was listed
    add(timeline, Aside_counter(9000, ASIDE_ARMED, 0, 1, 0));
    assert_string_equal(
        stretches(write_and_read(timeline,
                                 (struct PerfettoTrace){.dark = dark,
                                                        .dark_count = 2,
                                                        .dark_ticks = 6000})),
        "f2 4000 5500;f3 7000 7500;f1 2000 8000>;f2 6000 8000>;");
}

static void functions_may_be_dark_in_an_empty_timeline(void **state)
{
    struct DarkFunction dark[] = {{1500, 3}};

    (void)state;
    assert_string_equal(
        stretches(write_and_read(Timeline_new(1 << 20),
                                 (struct PerfettoTrace){.dark = dark,
                                                        .dark_count = 1,
                                                        .dark_ticks = 6000})),
        "");
}

static void put_sample(struct SampleTrack *track, struct Timeline *timeline,
                       struct TimelineSample sample)
{
    SampleTrack_add(track, timeline, &sample);
}

// Each frame of a stack is there once, before the first sample that has it;
// times may go back between threads.
static void samples_are_a_profile(void **state)
{
    static const char *const wanted[] = {
        "{\"startTime\":0}",
        "{\"cpuProfile\":{\"nodes\":[{\"id\":1,\"callFrame\":{"
        "\"functionName\":\"f1 (/src/a.py:1)\"}},{\"id\":2,\"parent\":1,"
        "\"callFrame\":{\"functionName\":\"f2 (/src/a.py:2)\"}}],"
        "\"samples\":[2]},\"timeDeltas\":[4]}",
        "{\"cpuProfile\":{\"nodes\":[{\"id\":3,\"parent\":1,\"callFrame\":{"
        "\"functionName\":\"(deeper stacks)\"}}],\"samples\":[3]},"
        "\"timeDeltas\":[2]}",
        "{\"cpuProfile\":{\"nodes\":[],\"samples\":[2]},"
        "\"timeDeltas\":[-3]}",
    };
    static const int tids[] = {4242, 7, 8, 7};
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct SampleTrack track = {0};
    uint32_t one[] = {1, 2}, two[] = {1, 0};
    struct json_object *root, *samples;
    size_t i;

    (void)state;
    put_sample(&track, timeline,
               (struct TimelineSample){5500, 7, false, one, 2});
    put_sample(&track, timeline,
               (struct TimelineSample){7200, 8, true, two, 2});
    put_sample(&track, timeline,
               (struct TimelineSample){7300, 8, true, two, 0});
    put_sample(&track, timeline,
               (struct TimelineSample){4999, 7, false, one, 2});
    root = write_and_read(timeline, (struct PerfettoTrace){0});
    samples = events_of(root, "P", NULL);
    assert_int_equal(json_object_array_length(samples), 4);
    for (i = 0; i < 4; i++) {
        struct json_object *event = json_object_array_get_idx(samples, i);
        struct json_object *args = json_object_object_get(event, "args");

        assert_string_equal(
            json_object_to_json_string_ext(json_object_object_get(args, "data"),
                                           JSON_C_TO_STRING_PLAIN |
                                               JSON_C_TO_STRING_NOSLASHESCAPE),
            wanted[i]);
        assert_int_equal(
            json_object_get_int(json_object_object_get(event, "tid")), tids[i]);
    }
    json_object_put(samples);
    json_object_put(root);
}

static int set_up(void **state)
{
    int descriptor = mkstemp(path);

    (void)state;
    return descriptor < 0 ? -1 : close(descriptor);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dark_ticks_are_nearly_exact),
        cmocka_unit_test(stretches_end_where_functions_are_armed),
        cmocka_unit_test(they_are_cut_where_the_file_begins_and_ends),
        cmocka_unit_test(what_is_armed_meanwhile_comes_once),
        cmocka_unit_test(functions_may_be_dark_in_an_empty_timeline),
        cmocka_unit_test(samples_are_a_profile),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
