// SPDX-License-Identifier: MIT
// Trace files, read back with json-c: balanced, nested, in order, whole.
#include "ipc/base/opened.h"
#include "tracer/timeline/mark.h"
#include "tracer/timeline/perfetto.h"
#include "tracer/timeline/ring.h"

#include <dirent.h>
#include <errno.h>
#include <iconv.h>
#include <json-c/json.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "tests/between.h"
#include "tests/sanitizers.h"

static char directory[] = "/tmp/ocular-perfetto-XXXXXX";
static char path[128];
static unsigned progress_calls;
static double progress_limit;
static uint64_t progress_bytes;

static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static char text[64];

    (void)context;
    if (id == 404)
        return false;
    snprintf(text, sizeof text, "f%u", id);
    *name = (struct PerfettoName){text, "/src/a.py", id, 0xabc000 + id};
    if (id == 666)
        *name = (struct PerfettoName){"a\"\\\n\x01\xff</script>\xed\xa0\x80",
                                      "b\xc3", 1, 1};
    return true;
}

// The first calls take so long that the next is due at once.
static bool on_progress(void *context, double done, uint64_t bytes)
{
    (void)context;
    if (progress_calls < 4)
        usleep(51000);
    assert_true(done >= 0 && done <= 1);
    assert_true(bytes >= progress_bytes);
    progress_bytes = bytes;
    progress_calls++;
    return done < progress_limit;
}

// --- A trace being made ---

struct Maker {
    struct Timeline *timeline;
    struct Ring *ring;
    uint64_t now;
    struct Track *tracks[3];
};

static struct Maker maker_of(size_t limit)
{
    return (struct Maker){Timeline_new(limit), Ring_new(NULL), 5000, {NULL}};
}

static void put(struct Maker *maker, enum EventKind kind, uint32_t id,
                unsigned level)
{
    maker->now += 1001;
    Ring_push(maker->ring, maker->now, kind, Event_call(id, level));
}

static void name_thread(struct Maker *maker, unsigned number, pid_t tid,
                        const char *name)
{
    maker->tracks[number] = Timeline_begin(maker->timeline, number, tid, name);
    assert_non_null(maker->tracks[number]);
}

static void drain(struct Maker *maker, unsigned number)
{
    if (!maker->tracks[number])
        name_thread(maker, number, 1, "");
    assert_true(Timeline_drain(maker->timeline, maker->tracks[number],
                               maker->ring) >= 0);
}

static struct PerfettoTrace trace_of(const struct TimelineView *view)
{
    return (struct PerfettoTrace){
        .view = view,
        .pid = 4242,
        .command = "python demo.py",
        .python = "3.13.0",
        .mode = "adaptive",
        .threshold = 500,
        .start_ticks = 5000,
        .start_unix_ns = 1700000000000000000u,
        .hz = 1e9,
        .overwrite = true,
        .name = name_of,
    };
}

static void release(struct Maker *maker)
{
    Timeline_free(maker->timeline);
    Ring_free(maker->ring);
}

// --- A trace read back ---

static char *slurp(size_t *size)
{
    gzFile file = gzopen(path, "rb"); // plain files, too
    char *data = malloc(1 << 28);
    int got;

    assert_non_null(file);
    *size = 0;
    while ((got = gzread(file, data + *size, 1 << 20)) > 0)
        *size += (size_t)got;
    assert_int_equal(got, 0);
    gzclose(file);
    data[*size] = 0;
    return data;
}

// By the C library: json-c 0.18 with JSON_TOKENER_VALIDATE_UTF8 refuses each
// character that is not ASCII (json-c issue 892).
static bool is_utf8(const char *data, size_t size)
{
    iconv_t to = iconv_open("UCS-4LE", "UTF-8");
    char out[4096], *in = (char *)data;
    bool valid = true;

    assert_true(to != (iconv_t)-1);
    while (size > 0 && valid) {
        char *next = out;
        size_t room = sizeof out;

        valid =
            iconv(to, &in, &size, &next, &room) != (size_t)-1 || errno == E2BIG;
    }
    iconv_close(to);
    return valid;
}

static void what_is_not_utf8_is_found(void **state)
{
    (void)state;
    assert_true(is_utf8("a\xc3\xa4\xf0\x9f\x91\xa8", 7));
    assert_false(is_utf8("a\xc3", 2));
    assert_false(is_utf8("\xfe", 1));
    assert_false(is_utf8("\xed\xa0\x80", 3)); // a surrogate
}

static struct json_object *parse(const char *data, size_t size, int flags)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *root;

    json_tokener_set_flags(tokener, flags);
    root = json_tokener_parse_ex(tokener, data, (int)size + 1);
    assert_int_equal(json_tokener_get_error(tokener), json_tokener_success);
    assert_non_null(root);
    json_tokener_free(tokener);
    return root;
}

// Strictly, what is not ASCII replaced: json-c 0.18 takes all that for control
// characters, which a string must not hold (json-c's #875). Then as it is.
static struct json_object *read_back(void)
{
    struct json_object *root;
    size_t size, i;
    char *data = slurp(&size);
    char *ascii = memcpy(malloc(size + 1), data, size + 1);

    assert_true(is_utf8(data, size));
    for (i = 0; i < size; i++)
        ascii[i] = ascii[i] & 0x80 ? 'x' : ascii[i];
    json_object_put(parse(ascii, size, JSON_TOKENER_STRICT));
    root = parse(data, size, 0);
    free(ascii);
    free(data);
    return root;
}

static const char *get_text(struct json_object *object, const char *key)
{
    return json_object_get_string(json_object_object_get(object, key));
}

static int64_t get_number(struct json_object *object, const char *key)
{
    return json_object_get_int64(json_object_object_get(object, key));
}

static struct json_object *args_of(struct json_object *event)
{
    return json_object_object_get(event, "args");
}

// The n-th event of a phase, whose name begins with `name` (NULL: any).
static struct json_object *nth(struct json_object *root, const char *phase,
                               const char *name, size_t n)
{
    struct json_object *events = json_object_object_get(root, "traceEvents");
    size_t i;

    for (i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);

        if (strcmp(get_text(event, "ph"), phase))
            continue;
        if (name && strncmp(get_text(event, "name"), name, strlen(name)))
            continue;
        if (!n--)
            return event;
    }
    return NULL;
}

// ts as it is in the file: digits, a point, three digits.
static void check_ts(struct json_object *event)
{
    const char *ts = get_text(event, "ts");
    const char *point = strchr(ts, '.');

    assert_non_null(point);
    assert_true(point > ts);
    assert_int_equal(strlen(point), 4);
    assert_int_equal(strspn(ts, "0123456789."), strlen(ts));
}

// Balanced by name and in order, per thread (tids below 16). Number of calls.
static size_t check(struct json_object *root)
{
    struct json_object *events = json_object_object_get(root, "traceEvents");
    static const char *stack[16][200000];
    size_t depth[16] = {0}, calls = 0, i;
    double last[16] = {0};

    for (i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        const char *phase = get_text(event, "ph");
        int64_t tid = get_number(event, "tid");
        double ts;

        assert_int_equal(get_number(event, "pid"), 4242);
        if (*phase == 'M')
            continue;
        assert_between(tid, 0, 15);
        check_ts(event);
        ts = json_object_get_double(json_object_object_get(event, "ts"));
        assert_true(ts >= last[tid]);
        last[tid] = ts;
        if (*phase == 'B') {
            assert_string_equal(get_text(event, "cat"), "python");
            assert_int_equal(
                strncmp(get_text(args_of(event), "code_ptr"), "0x", 2), 0);
            stack[tid][depth[tid]++] = get_text(event, "name");
            calls++;
        } else if (*phase == 'E') {
            assert_true(depth[tid] > 0);
            assert_string_equal(stack[tid][--depth[tid]],
                                get_text(event, "name"));
        } else {
            assert_string_equal(phase, "i");
        }
    }
    for (i = 0; i < 16; i++)
        assert_int_equal(depth[i], 0);
    return calls;
}

static struct json_object *write_and_read(struct Maker *maker)
{
    struct TimelineView *view = Timeline_freeze(maker->timeline);
    struct PerfettoTrace trace = trace_of(view);
    struct PerfettoResult result;
    struct stat status;
    struct json_object *root;

    assert_int_equal(Perfetto_write(&trace, path, &result), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(result.bytes, status.st_size);
    root = read_back();
    assert_int_equal(
        result.events,
        json_object_array_length(json_object_object_get(root, "traceEvents")));
    TimelineView_free(view);
    release(maker);
    return root;
}

static unsigned files_in_directory(void)
{
    DIR *dir = opendir(directory);
    unsigned count = 0;

    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2;
}

// --- Tests ---

static void an_empty_timeline(void **state)
{
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root, *other;

    (void)state;
    root = write_and_read(&maker);
    assert_int_equal(check(root), 0);
    assert_string_equal(get_text(root, "displayTimeUnit"), "ns");
    other = json_object_object_get(root, "otherData");
    assert_string_equal(get_text(other, "mode"), "adaptive");
    assert_string_equal(get_text(other, "python"), "3.13.0");
    assert_int_equal(get_number(other, "threshold"), 500);
    assert_int_equal(get_number(other, "lost_events"), 0);
    assert_string_equal(get_text(other, "start_time"), "2023-11-14T22:13:20Z");
    assert_string_equal(
        get_text(args_of(nth(root, "M", "process_name", 0)), "name"),
        "python demo.py");
    json_object_put(root);
}

static void calls_loops_and_marks(void **state)
{
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root, *event;

    (void)state;
    name_thread(&maker, 0, 7, "MainThread");
    put(&maker, EVENT_ENTER, 1, 0);
    put(&maker, EVENT_ENTER, 2, 1);
    Ring_push(maker.ring, maker.now + 5, EVENT_LOOP, Event_loop(1567, 12, 47));
    put(&maker, EVENT_RAISE, 2, 1);
    put(&maker, EVENT_ENTER, 3, 1);
    put(&maker, EVENT_UNWOUND, 3, 1);
    put(&maker, EVENT_DARK, 2, 1);
    put(&maker, EVENT_LEAVE, 1, 0);
    put(&maker, EVENT_ENTER, 404, 0);
    drain(&maker, 0);
    root = write_and_read(&maker);
    assert_int_equal(check(root), 4);
    event = nth(root, "M", "thread_name", 0);
    assert_string_equal(get_text(args_of(event), "name"), "MainThread");
    assert_int_equal(get_number(event, "tid"), 7);
    event = nth(root, "B", NULL, 0);
    assert_string_equal(get_text(event, "ts"), "1.001");
    assert_string_equal(get_text(event, "name"), "f1");
    assert_string_equal(get_text(args_of(event), "code_ptr"), "0xabc001");
    assert_string_equal(get_text(args_of(event), "file"), "/src/a.py");
    assert_int_equal(get_number(args_of(event), "line"), 1);
    event = nth(root, "i", "loop", 0);
    assert_string_equal(get_text(event, "name"), "loop @94: f2");
    assert_string_equal(get_text(event, "cat"), "loop");
    assert_int_equal(get_number(args_of(event), "uOps"), 12);
    assert_int_equal(get_number(args_of(event), "Hardware Cycles"), 1567);
    assert_true(get_number(args_of(nth(root, "E", "f2", 0)), "raised"));
    assert_true(get_number(args_of(nth(root, "E", "f3", 0)), "unwound"));
    assert_null(args_of(nth(root, "E", "f1", 0)));
    assert_true(get_number(args_of(nth(root, "E", "<retired>", 0)), "open"));
    event = nth(root, "i", "dark: f2", 0);
    assert_string_equal(get_text(event, "cat"), "ocular");
    json_object_put(root);
}

// A wait is about the call that is open; outside of all of them it is nobody's.
static void waits(void **state)
{
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root, *event;

    (void)state;
    put(&maker, EVENT_ENTER, 1, 0);
    put(&maker, EVENT_ENTER, 2, 1);
    Ring_push(maker.ring, maker.now, EVENT_WAIT, 5200000);
    put(&maker, EVENT_LEAVE, 2, 1);
    put(&maker, EVENT_LEAVE, 1, 0);
    Ring_push(maker.ring, maker.now, EVENT_WAIT, 5200000);
    drain(&maker, 0);
    root = write_and_read(&maker);
    assert_int_equal(check(root), 2);
    event = nth(root, "i", "waited", 0);
    assert_string_equal(get_text(event, "name"), "waited: f2");
    assert_string_equal(get_text(event, "cat"), "ocular");
    assert_int_equal(get_number(args_of(event), "ns"), 5200000);
    assert_non_null(get_text(args_of(event), "note"));
    assert_null(nth(root, "i", "waited", 1));
    json_object_put(root);
}

// Greenlets: what is open is parked, and goes on later.
static void put_task_step(struct Maker *maker, uint32_t number,
                          const char *name)
{
    const struct Mark task = {.kind = EVENT_TASK,
                              .number = number,
                              .name = name,
                              .name_size = strlen(name)};

    put(maker, EVENT_ENTER, 1, 0);
    Mark_push(maker->ring, maker->now, &task);
    put(maker, EVENT_LEAVE, 1, 0);
}

// One bind_id links the steps of a task: from all, to all but its first.
static void steps_of_tasks(void **state)
{
    static const char *const ids[] = {"0x109200000001", "0x10920fffffff",
                                      "0x109200000001"};
    static const char *const names[] = {"a\"\\\x01", "b", "\xc3\xa4"};
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root, *value;
    size_t i, n = 0;

    (void)state;
    put_task_step(&maker, 1, names[0]);
    put_task_step(&maker, 0xfffffff, names[1]);
    put_task_step(&maker, 1, names[2]);
    drain(&maker, 0);
    root = write_and_read(&maker);
    for (i = 0; i < 6; i++) {
        struct json_object *event = nth(root, "B", NULL, i);
        bool again = json_object_object_get_ex(event, "flow_in", &value);

        if (strcmp(get_text(event, "cat"), "task"))
            continue;
        assert_string_equal(get_text(event, "name"), names[n]);
        assert_string_equal(get_text(event, "bind_id"), ids[n]);
        assert_string_equal(get_text(event, "flow_out"), "true");
        assert_int_equal(again, n == 2);
        assert_int_equal(get_number(args_of(event), "task"),
                         n == 1 ? 0xfffffff : 1);
        // Its end comes before the call's, and at the same time.
        event = nth(root, "E", NULL, 2 * n);
        assert_false(json_object_object_get_ex(event, "name", &value));
        value = nth(root, "E", NULL, 2 * n + 1);
        assert_string_equal(get_text(event, "ts"), get_text(value, "ts"));
        n++;
    }
    assert_int_equal(n, 3);
    json_object_put(root);
}

static void parked_calls(void **state)
{
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root;

    (void)state;
    put(&maker, EVENT_ENTER, 1, 0);
    put(&maker, EVENT_ENTER, 2, 1);
    Ring_push(maker.ring, maker.now, EVENT_PARK, 0);
    put(&maker, EVENT_ENTER, 3, 0);
    Ring_push(maker.ring, maker.now, EVENT_PARK, 0);
    put(&maker, EVENT_REOPEN, 1, 0);
    put(&maker, EVENT_REOPEN, 2, 1);
    put(&maker, EVENT_LEAVE, 2, 1);
    put(&maker, EVENT_LEAVE, 1, 0);
    drain(&maker, 0);
    root = write_and_read(&maker);
    assert_int_equal(check(root), 5);
    assert_true(get_number(args_of(nth(root, "E", "f2", 0)), "parked"));
    assert_true(get_number(args_of(nth(root, "E", "f1", 0)), "parked"));
    assert_true(get_number(args_of(nth(root, "E", "f3", 0)), "parked"));
    assert_null(
        json_object_object_get(args_of(nth(root, "B", "f1", 0)), "resumed"));
    assert_true(get_number(args_of(nth(root, "B", "f1", 1)), "resumed"));
    assert_true(get_number(args_of(nth(root, "B", "f2", 1)), "resumed"));
    assert_null(args_of(nth(root, "E", "f2", 1)));
    assert_null(args_of(nth(root, "E", "f1", 1)));
    json_object_put(root);
}

static void hostile_names(void **state)
{
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root;

    (void)state;
    name_thread(&maker, 0, 1, "t\"\xfe\n");
    put(&maker, EVENT_ENTER, 666, 0);
    Ring_push(maker.ring, maker.now, EVENT_LOOP, Event_loop(1, 1, 1));
    put(&maker, EVENT_DARK, 666, 0);
    put(&maker, EVENT_LEAVE, 666, 0);
    drain(&maker, 0);
    root = write_and_read(&maker);
    assert_int_equal(check(root), 1);
    assert_string_equal(
        get_text(nth(root, "B", NULL, 0), "name"),
        "a\"\\\n\x01\xef\xbf\xbd</script>\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    json_object_put(root);
}

static void lost_events_are_marked_and_healed(void **state)
{
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root;

    (void)state;
    put(&maker, EVENT_ENTER, 1, 0);
    put(&maker, EVENT_ENTER, 2, 1);
    put(&maker, EVENT_ENTER, 3, 2);
    Ring_push(maker.ring, maker.now, EVENT_LOST, 99);
    put(&maker, EVENT_LEAVE, 9, 4); // its enter was lost
    put(&maker, EVENT_LEAVE, 8, 1); // not the call that was there
    put(&maker, EVENT_ENTER, 4, 1);
    put(&maker, EVENT_LEAVE, 1, 0); // 4 has ended, too
    drain(&maker, 0);
    root = write_and_read(&maker);
    assert_int_equal(check(root), 4);
    assert_int_equal(
        get_number(args_of(nth(root, "i", "lost: 99 events", 0)), "events"),
        99);
    assert_true(get_number(args_of(nth(root, "E", "f3", 0)), "lost"));
    assert_true(get_number(args_of(nth(root, "E", "f2", 0)), "lost"));
    assert_true(get_number(args_of(nth(root, "E", "f4", 0)), "lost"));
    assert_null(args_of(nth(root, "E", "f1", 0)));
    json_object_put(root);
}

static void a_forgotten_start_is_synthesised(void **state)
{
    struct Maker maker = maker_of(256 << 10);
    struct json_object *root, *other, *event;
    unsigned i, j;

    (void)state;
    put(&maker, EVENT_ENTER, 1, 0);
    put(&maker, EVENT_ENTER, 2, 1);
    drain(&maker, 0);
    for (i = 0; i < 20; i++) {
        for (j = 0; j < 2000; j++) {
            put(&maker, EVENT_ENTER, 3, 2);
            put(&maker, EVENT_LEAVE, 3, 2);
        }
        drain(&maker, 0);
    }
    put(&maker, EVENT_LEAVE, 2, 1);
    drain(&maker, 0);
    root = write_and_read(&maker);
    assert_true(check(root) > 3000);
    other = json_object_object_get(root, "otherData");
    assert_true(get_number(other, "forgotten_events") > 40000);
    event = nth(root, "B", NULL, 0);
    assert_string_equal(get_text(event, "name"), "f1");
    assert_true(get_number(args_of(event), "earlier"));
    assert_string_equal(get_text(event, "ts"),
                        get_text(other, "covered_from_us"));
    assert_string_equal(get_text(nth(root, "B", NULL, 1), "name"), "f2");
    event = nth(root, "E", "f1", 0);
    assert_true(get_number(args_of(event), "open"));
    assert_string_equal(get_text(event, "ts"),
                        get_text(other, "covered_to_us"));
    assert_null(args_of(nth(root, "E", "f2", 0)));
    assert_non_null(nth(root, "i", "forgotten: ", 0));
    json_object_put(root);
}

// Whatever comes, in whatever order, with clocks that go back.
static void nonsense_is_balanced(void **state)
{
    uint32_t seed = 42;
    unsigned round, i;

    (void)state;
    for (round = 0; round < FEWER(20); round++) {
        struct Maker maker = maker_of(round % 3 ? 64 << 10 : 1 << 20);
        struct json_object *root;

        name_thread(&maker, 0, 3, "a");
        name_thread(&maker, 1, 3, "the same tid");
        name_thread(&maker, 2, 4, "b");
        for (i = 0; i < 6000; i++) {
            seed = seed * 1664525 + 1013904223;
            maker.now += (seed >> 9 & 63) * 100;
            maker.now -= (seed >> 15 & 15) * 100;
            put(&maker, (enum EventKind)((seed >> 20) % 9), seed >> 24 & 7,
                seed >> 27 & 15);
            drain(&maker, i / 2000);
        }
        root = write_and_read(&maker);
        check(root);
        json_object_put(root);
    }
}

static void times_before_the_start_are_zero(void **state)
{
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root;

    (void)state;
    maker.now = 10;
    put(&maker, EVENT_ENTER, 1, 0);
    maker.now = 9000;
    put(&maker, EVENT_LEAVE, 1, 0);
    drain(&maker, 0);
    root = write_and_read(&maker);
    assert_int_equal(check(root), 1);
    assert_string_equal(get_text(nth(root, "B", NULL, 0), "ts"), "0.000");
    assert_string_equal(get_text(nth(root, "E", NULL, 0), "ts"), "5.001");
    json_object_put(root);
}

static struct Maker big(unsigned calls)
{
    struct Maker maker = maker_of(256 << 20);
    unsigned i;

    put(&maker, EVENT_ENTER, 1, 0);
    for (i = 0; i < calls; i++) {
        put(&maker, EVENT_ENTER, 2 + i % 300, 1);
        put(&maker, EVENT_LEAVE, 2 + i % 300, 1);
        if (i % 20000 == 0)
            drain(&maker, 0);
    }
    drain(&maker, 0);
    return maker;
}

// Of 700 calls in each other, the innermost with a loop's event.
static void calls_that_are_too_deep(void **state)
{
    struct Maker maker = maker_of(1 << 20);
    struct json_object *root, *mark;
    unsigned i;

    (void)state;
    for (i = 0; i < 700; i++)
        put(&maker, EVENT_ENTER, i, i);
    Ring_push(maker.ring, maker.now, EVENT_LOOP, Event_loop(5, 9, 1));
    for (; i > 0; i--)
        put(&maker, EVENT_LEAVE, i - 1, i - 1);
    put(&maker, EVENT_ENTER, 1, 0);
    put(&maker, EVENT_LEAVE, 1, 0);
    drain(&maker, 0);
    root = write_and_read(&maker);
    assert_int_equal(check(root), 500 + 1);
    mark = nth(root, "i", NULL, 0);
    assert_string_equal(get_text(mark, "name"),
                        "deeper than 500 calls: 401 events");
    assert_int_equal(get_number(args_of(mark), "events"), 401);
    assert_null(nth(root, "i", NULL, 1));
    json_object_put(root);
}

static void gzip_and_speed(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        const unsigned calls = FEWER(30000);
        struct Maker maker = big(calls);
        struct TimelineView *view = Timeline_freeze(maker.timeline);
        struct PerfettoTrace trace = trace_of(view);
        struct PerfettoResult result;
        struct timespec from, to;
        struct json_object *root;
        unsigned char magic[2];
        FILE *file;
        double s;

        snprintf(path, sizeof path, "%s/trace.json%s", directory,
                 i ? ".gz" : "");
        clock_gettime(CLOCK_MONOTONIC, &from);
        assert_int_equal(Perfetto_write(&trace, path, &result), 0);
        clock_gettime(CLOCK_MONOTONIC, &to);
        s = (double)(to.tv_sec - from.tv_sec) +
            (double)(to.tv_nsec - from.tv_nsec) / 1e9;
        print_message("%s: %.0f events/s, %.0f bytes an event\n",
                      i ? "gz" : "plain", (double)result.events / s,
                      (double)result.bytes / (double)result.events);
        file = fopen(path, "rb");
        assert_int_equal(fread(magic, 1, 2, file), 2);
        fclose(file);
        assert_int_equal(magic[0] == 0x1f && magic[1] == 0x8b, i);
        root = read_back();
        assert_int_equal(check(root), calls + 1);
        json_object_put(root);
        TimelineView_free(view);
        release(&maker);
    }
    snprintf(path, sizeof path, "%s/trace.json", directory);
}

static void cancelled_half_way(void **state)
{
    struct Maker maker = big(100000);
    struct TimelineView *view = Timeline_freeze(maker.timeline);
    struct PerfettoTrace trace = trace_of(view);
    struct PerfettoResult result;
    unsigned files = files_in_directory();
    struct stat before, after;

    (void)state;
    trace.progress = on_progress;
    progress_calls = 0;
    progress_bytes = 0;
    progress_limit = 0.001;
    stat(path, &before);
    assert_int_equal(Perfetto_write(&trace, path, &result), -ECANCELED);
    stat(path, &after);
    assert_int_equal(before.st_ino, after.st_ino); // the older file stays
    assert_int_equal(files_in_directory(), files);
    assert_true(progress_calls > 1);
    progress_limit = 2;
    progress_calls = progress_bytes = 0;
    assert_int_equal(Perfetto_write(&trace, path, &result), 0);
    assert_true(progress_calls >= 4 && progress_bytes < result.bytes);
    TimelineView_free(view);
    release(&maker);
}

static void a_full_disk_is_reported(void **state)
{
    const struct rlimit small = {100000, RLIM_INFINITY};
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    struct Maker maker = big(20000);
    struct TimelineView *view = Timeline_freeze(maker.timeline);
    struct PerfettoTrace trace = trace_of(view);
    struct PerfettoResult result;
    unsigned files = files_in_directory();
    unsigned i;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (i = 0; i < 2; i++) {
        char other[160];

        snprintf(other, sizeof other, "%s/full.json%s", directory,
                 i ? ".gz" : "");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        assert_int_equal(Perfetto_write(&trace, other, &result), -EFBIG);
        setrlimit(RLIMIT_FSIZE, &none);
        assert_int_equal(files_in_directory(), files);
    }
    TimelineView_free(view);
    release(&maker);
}

// --- Where it is written ---

// An empty timeline: what is in it does not matter here.
static struct {
    struct Maker maker;
    struct TimelineView *view;
    struct PerfettoTrace trace;
} frozen;

static int freeze(void **state)
{
    (void)state;
    frozen.maker = maker_of(1 << 20);
    frozen.view = Timeline_freeze(frozen.maker.timeline);
    if (!frozen.view)
        return -1;
    frozen.trace = trace_of(frozen.view);
    return 0;
}

static int thaw(void **state)
{
    (void)state;
    TimelineView_free(frozen.view);
    release(&frozen.maker);
    return 0;
}

static bool progress_takes_the_name(void *context, double done, uint64_t bytes)
{
    FILE *other = fopen(context, "w");

    (void)done, (void)bytes;
    assert_non_null(other);
    fputs("another one's", other);
    fclose(other);
    return true;
}

// Which was not there when it began.
static void what_another_has_written_stays(void **state)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char text[64] = "", place[300];
    struct dirent *entry;
    FILE *file;
    DIR *all;

    (void)state;
    snprintf(place, sizeof place, "%s/taken.json", directory);
    trace.overwrite = false;
    trace.context = place;
    trace.progress = progress_takes_the_name;
    assert_int_equal(Perfetto_write(&trace, place, &result), -EEXIST);
    file = fopen(place, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "another one's");
    unlink(place);
    all = opendir(directory); // and nothing is left beside it
    assert_non_null(all);
    while ((entry = readdir(all)) != NULL)
        assert_null(strstr(entry->d_name, ".tmp"));
    closedir(all);
}

static bool progress_goes_away(void *context, double done, uint64_t bytes)
{
    (void)context, (void)done, (void)bytes;
    return chdir("/") == 0;
}

static void a_change_of_directory_meanwhile(void **state)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char place[300];

    (void)state;
    assert_int_equal(chdir(directory), 0);
    trace.progress = progress_goes_away;
    assert_int_equal(Perfetto_write(&trace, "moved.json", &result), 0);
    snprintf(place, sizeof place, "%s/moved.json", directory);
    assert_int_equal(unlink(place), 0);
}

// To a file that is there, and to one that is not yet.
static void links_are_followed(void **state)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char name[300], place[300];
    struct stat status;
    int turn;

    (void)state;
    snprintf(name, sizeof name, "%s/link.json", directory);
    snprintf(place, sizeof place, "%s/there", directory);
    assert_int_equal(mkdir(place, 0700), 0);
    assert_int_equal(symlink("there/first", name), 0);
    snprintf(place, sizeof place, "%s/there/first", directory);
    assert_int_equal(symlink("second.json", place), 0);
    snprintf(place, sizeof place, "%s/there/second.json", directory);
    for (turn = 0; turn < 2; turn++) {
        assert_int_equal(Perfetto_write(&trace, name, &result), 0);
        assert_int_equal(lstat(name, &status), 0);
        assert_true(S_ISLNK(status.st_mode));
        assert_int_equal(lstat(place, &status), 0);
        assert_int_equal(status.st_size, result.bytes);
        assert_true(S_ISREG(status.st_mode));
    }
    unlink(name);
    assert_int_equal(symlink("link.json", name), 0); // to itself
    assert_int_equal(Perfetto_write(&trace, name, &result), -ELOOP);
    unlink(name), unlink(place);
    snprintf(place, sizeof place, "%s/there/first", directory);
    unlink(place);
    snprintf(place, sizeof place, "%s/there", directory);
    assert_int_equal(rmdir(place), 0);
}

static void places_that_are_refused(void **state)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char place[300];

    (void)state;
    assert_int_equal(Perfetto_write(&trace, directory, &result), -EISDIR);
    // As a device would be; one of our own, should it be replaced after all.
    snprintf(place, sizeof place, "%s/pipe", directory);
    assert_int_equal(mkfifo(place, 0600), 0);
    assert_int_equal(Perfetto_write(&trace, place, &result), -EINVAL);
    unlink(place);
    snprintf(place, sizeof place, "%s/none/a.json", directory);
    assert_int_equal(Perfetto_write(&trace, place, &result), -ENOENT);
    snprintf(place, sizeof place, "%s/a.json", path); // below a file
    assert_int_equal(Perfetto_write(&trace, place, &result), -ENOTDIR);
    // A name as long as may be, and one without a directory.
    snprintf(place, sizeof place, "%s/%0250d.json", directory, 0);
    assert_int_equal(Perfetto_write(&trace, place, &result), 0);
    unlink(place);
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(Perfetto_write(&trace, "here.json", &result), 0);
    assert_int_equal(unlink("here.json"), 0);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/trace.json", directory);
    return 0;
}

static int tear_down(void **state)
{
    char name[160];

    (void)state;
    unlink(path);
    snprintf(name, sizeof name, "%s.gz", path);
    unlink(name);
    return rmdir(directory); // nothing else is left there
}

#define FROZEN(test) cmocka_unit_test_setup_teardown(test, freeze, thaw)

// As a program may do that closes what it does not know.
static void close_unnamed_files(void)
{
    struct stat status;
    int fd;

    for (fd = OPENED_ABOVE; fd < 1024; fd++)
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_nlink == 0)
            close(fd);
}

static struct json_object *write_spilled(bool readable)
{
    struct Maker maker = maker_of(200 << 10);
    unsigned i;

    assert_int_equal(Timeline_spill_to(maker.timeline, directory), 0);
    put(&maker, EVENT_ENTER, 1, 0);
    for (i = 0; i < 40000; i++) {
        put(&maker, EVENT_ENTER, 2, 1);
        put(&maker, EVENT_LEAVE, 2, 1);
        if (i % 1000 == 0)
            drain(&maker, 0);
    }
    put(&maker, EVENT_LEAVE, 1, 0);
    drain(&maker, 0);
    if (!readable)
        close_unnamed_files();
    return write_and_read(&maker);
}

static void what_memory_has_no_room_for(void **state)
{
    struct json_object *root = write_spilled(true);

    (void)state;
    assert_int_equal(check(root), 40001);
    assert_null(nth(root, "i", "lost", 0));
    json_object_put(root);
}

static void what_can_be_read_no_more_is_lost(void **state)
{
    struct json_object *root = write_spilled(false);
    size_t calls = check(root);

    (void)state;
    assert_true(calls > 1000 && calls < 20000);
    assert_true(nth(root, "i", "lost", 0));
    json_object_put(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_timeline),
        cmocka_unit_test(calls_loops_and_marks),
        cmocka_unit_test(waits),
        cmocka_unit_test(steps_of_tasks),
        cmocka_unit_test(parked_calls),
        cmocka_unit_test(what_is_not_utf8_is_found),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(lost_events_are_marked_and_healed),
        cmocka_unit_test(a_forgotten_start_is_synthesised),
        cmocka_unit_test(nonsense_is_balanced),
        cmocka_unit_test(times_before_the_start_are_zero),
        cmocka_unit_test(calls_that_are_too_deep),
        cmocka_unit_test(gzip_and_speed),
        cmocka_unit_test(cancelled_half_way),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(what_memory_has_no_room_for),
        cmocka_unit_test(what_can_be_read_no_more_is_lost),
        FROZEN(what_another_has_written_stays),
        FROZEN(a_change_of_directory_meanwhile),
        FROZEN(links_are_followed),
        FROZEN(places_that_are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
