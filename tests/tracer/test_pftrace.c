// SPDX-License-Identifier: MIT
// Files in Perfetto's own format, as bytes: what an event takes, what comes
// once, which packets say what. tests/python/test_formats.py decodes them.
#include "tracer/timeline/mark.h"
#include "tracer/timeline/perfetto.h"
#include "tracer/timeline/pftrace_fields.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/sanitizers.h"

#define MOST 200000

static char path[] = "/tmp/ocular-pftrace-XXXXXX.pftrace";
static uint8_t data[32 << 20];
static size_t size;

static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static char text[64];

    (void)context;
    snprintf(text, sizeof text, "f%u\xff", id);
    *name = (struct PerfettoName){text, "/src/a.py", id, 0xabc000 + id};
    return true;
}

// --- A small reader of the wire format ---------------------------------------

struct Field {
    unsigned number;
    uint64_t value; // of a varint; of a message its bytes
    const uint8_t *at;
};

static uint64_t read_varint(const uint8_t **at)
{
    uint64_t value = 0;
    unsigned shift = 0;

    do
        value |= (uint64_t)(**at & 127) << shift;
    while (shift += 7, *(*at)++ & 128);
    return value;
}

// False at the end.
static bool next(const uint8_t **at, const uint8_t *end, struct Field *field)
{
    uint64_t tag;

    assert_true(*at <= end);
    if (*at == end)
        return false;
    tag = read_varint(at);
    field->number = (unsigned)(tag >> 3);
    assert_true((tag & 7) == 0 || (tag & 7) == 1 || (tag & 7) == 2);
    field->value = (tag & 7) == 1 ? 8 : read_varint(at);
    field->at = *at;
    if (tag & 7)
        *at += field->value;
    return true;
}

// The n-th such field of a message.
static bool find(const struct Field *message, unsigned number, unsigned n,
                 struct Field *field)
{
    const uint8_t *at = message->at;

    while (next(&at, message->at + message->value, field))
        if (field->number == number && !n--)
            return true;
    return false;
}

static uint64_t get(const struct Field *message, unsigned number)
{
    struct Field field;

    assert_true(find(message, number, 0, &field));
    return field.value;
}

static bool has(const struct Field *message, unsigned number)
{
    struct Field field;

    return find(message, number, 0, &field);
}

// --- A file ------------------------------------------------------------------

static struct Field packets[MOST];
static size_t packet_count;

static void read_file(void)
{
    FILE *file = fopen(path, "rb");
    const uint8_t *at = data;

    size = fread(data, 1, sizeof data, file);
    assert_true(feof(file));
    fclose(file);
    packet_count = 0;
    while (next(&at, data + size, &packets[packet_count])) {
        assert_int_equal(packets[packet_count].number, TRACE_PACKET);
        assert_true(has(&packets[packet_count], PACKET_SEQUENCE));
        packet_count++;
    }
}

static void write_file(struct Timeline *timeline)
{
    struct TimelineView *view = Timeline_freeze(timeline);
    const struct PerfettoTrace trace = {
        .view = view,
        .pid = 4242,
        .command = "x\xff",
        .start_ticks = 1000,
        .start_unix_ns = 1700000000000000000u,
        .start_boot_ns = 7777,
        .hz = 1e9,
        .overwrite = true,
        .name = name_of,
    };
    struct PerfettoResult result = {0};

    assert_int_equal(Perfetto_write(&trace, path, &result), 0);
    TimelineView_free(view);
    read_file();
    assert_int_equal(size, result.bytes);
}

// Drains the events of one thread.
static void add_thread(struct Timeline *timeline, unsigned number,
                       struct Ring *ring)
{
    struct Track *track =
        Timeline_begin(timeline, number, (pid_t)(10 + number), "T\xff");

    assert_true(Timeline_drain(timeline, track, ring) >= 0);
}

// The n-th packet that is an event with a type; its event.
static struct Field *nth_event(unsigned type, unsigned n, struct Field *event)
{
    size_t i;

    for (i = 0; i < packet_count; i++)
        if (find(&packets[i], PACKET_EVENT, 0, event) &&
            get(event, TRACK_EVENT_TYPE) == type && !n--)
            return &packets[i];
    return NULL;
}

static unsigned count_with(unsigned number)
{
    unsigned count = 0;
    size_t i;

    for (i = 0; i < packet_count; i++)
        count += has(&packets[i], number);
    return count;
}

static struct Timeline *calls(unsigned count)
{
    struct Timeline *timeline = Timeline_new(1 << 30);
    struct Track *track = Timeline_begin(timeline, 0, 10, "T");
    struct Ring *ring = Ring_new(NULL);
    uint64_t now = 2000;
    unsigned i;

    for (i = 0; i < count; i++) {
        Ring_push(ring, now += 130, EVENT_ENTER, Event_call(i % 20, 0));
        Ring_push(ring, now += 130, EVENT_LEAVE, Event_call(i % 20, 0));
        if (i % 20000 == 0)
            Timeline_drain(timeline, track, ring);
    }
    Timeline_drain(timeline, track, ring);
    Ring_free(ring);
    return timeline;
}

// --- Tests -------------------------------------------------------------------

static void an_empty_timeline(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct Field field, clock;

    (void)state;
    write_file(timeline);
    assert_int_equal(data[0], 0x0a);   // by which Perfetto knows the format
    assert_int_equal(packet_count, 3); // the sequence, the track, an instant
    assert_int_equal(get(&packets[0], PACKET_FLAGS), FLAG_STATE_CLEARED);
    assert_true(find(&packets[0], PACKET_CLOCKS, 0, &field));
    assert_true(find(&field, CLOCKS_CLOCK, 0, &clock));
    assert_int_equal(get(&clock, CLOCK_ID), CLOCK_OURS);
    assert_int_equal(get(&clock, CLOCK_IS_INCREMENTAL), 1);
    assert_true(find(&field, CLOCKS_CLOCK, 1, &clock));
    assert_int_equal(get(&clock, CLOCK_ID), CLOCK_BOOT);
    assert_int_equal(get(&clock, CLOCK_TIME), 7777);
    assert_true(find(&packets[1], PACKET_TRACK, 0, &field));
    assert_true(find(&field, TRACK_PROCESS, 0, &field));
    assert_int_equal(get(&field, DESCRIPTOR_PID), 4242);
    assert_true(find(&field, PROCESS_NAME, 0, &field));
    assert_memory_equal(field.at, "x\xef\xbf\xbd", 4);
    Timeline_free(timeline);
}

static void a_call_takes_thirteen_bytes_and_its_name_comes_once(void **state)
{
    const unsigned count = FEWER(50000);
    struct Timeline *timeline = calls(count);
    struct Field event, field, *packet;

    (void)state;
    write_file(timeline);
    assert_int_equal(count_with(PACKET_EVENT), 2 * count + 1);
    assert_int_equal(count_with(PACKET_INTERNED), 1 + 20);
    assert_true(size < 2 * count * 14 + 4000);
    // The first of a function's has its address, the others have no text.
    packet = nth_event(TYPE_BEGIN, 1, &event);
    assert_true(find(&event, TRACK_EVENT_NOTE, 0, &field));
    assert_int_equal(get(&field, NOTE_NAME_IID), NAME_CODE);
    assert_int_equal(get(&field, NOTE_POINTER), 0xabc001);
    assert_int_equal(get(packet, PACKET_TIME), 130);
    packet = nth_event(TYPE_BEGIN, 21, &event);
    assert_int_equal(packet->value, 14); // and 2 before it
    assert_int_equal(get(&event, TRACK_EVENT_NAME_IID), 2);
    assert_int_equal(get(&event, TRACK_EVENT_PLACE_IID), 2);
    packet = nth_event(TYPE_END, 21, &event);
    assert_int_equal(packet->value, 9);
    assert_false(has(packet, PACKET_FLAGS));
    Timeline_free(timeline);
}

static void names_are_utf8_and_placed(void **state)
{
    struct Timeline *timeline = calls(1);
    struct Field interned, field, text;
    size_t i = 0;

    (void)state;
    write_file(timeline);
    while (!has(&packets[i], PACKET_INTERNED) ||
           get(&packets[i], PACKET_FLAGS) != FLAG_NEEDS_STATE)
        i++;
    assert_true(find(&packets[i], PACKET_INTERNED, 0, &interned));
    assert_true(find(&interned, INTERNED_NAME, 0, &field));
    assert_int_equal(get(&field, IID), 1);
    assert_true(find(&field, IID_NAME, 0, &text));
    assert_int_equal(text.value, 5);
    assert_memory_equal(text.at, "f0\xef\xbf\xbd", 5);
    assert_true(find(&interned, INTERNED_PLACE, 0, &field));
    assert_true(find(&field, IID_NAME, 0, &text));
    assert_memory_equal(text.at, "/src/a.py", 9);
    assert_int_equal(get(&field, PLACE_LINE), 0);
    Timeline_free(timeline);
}

static void steps_of_a_task_have_a_flow(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct Ring *ring = Ring_new(NULL);
    struct Field event, field;
    const struct Mark task = {
        .kind = EVENT_TASK, .number = 3, .name = "T\xc3\xa4sk", .name_size = 5};
    uint64_t flow = UINT64_C(4242) << 32 | 3;
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        Ring_push(ring, 2000, EVENT_ENTER, Event_call(1, 0));
        Mark_push(ring, 2000, &task);
        Ring_push(ring, 3000, EVENT_LEAVE, Event_call(1, 0));
    }
    add_thread(timeline, 0, ring);
    write_file(timeline);
    for (i = 0; i < 2; i++) {
        nth_event(TYPE_BEGIN, 2 * i + 1, &event);
        assert_true(find(&event, TRACK_EVENT_NAME, 0, &field));
        assert_int_equal(field.value, 5);
        assert_memory_equal(field.at, "T\xc3\xa4sk", 5);
        assert_true(find(&event, TRACK_EVENT_CATEGORY, 0, &field));
        assert_memory_equal(field.at, "task", 4);
        assert_true(find(&event, TRACK_EVENT_FLOW, 0, &field));
        assert_int_equal(field.value, 8);
        assert_memory_equal(field.at, &flow, 8);
        assert_true(find(&event, TRACK_EVENT_NOTE, 0, &field));
        assert_int_equal(get(&field, NOTE_NUMBER), 3);
    }
    assert_non_null(nth_event(TYPE_END, 3, &event));
    assert_null(nth_event(TYPE_END, 4, &event));
    Ring_free(ring);
    Timeline_free(timeline);
}

static void loops_have_their_numbers_at_both_ends(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct Ring *ring = Ring_new(NULL);
    struct Field event, note;
    unsigned i;

    (void)state;
    Ring_push(ring, 2000, EVENT_LOOP, Event_loop(0, 0, 0));
    Ring_push(ring, (UINT64_C(1) << 59) - 1, EVENT_LOOP,
              Event_loop(UINT64_MAX, UINT64_MAX, 65535));
    Ring_push(ring, (UINT64_C(1) << 59) - 1, EVENT_LOST, UINT64_MAX);
    add_thread(timeline, 0, ring);
    write_file(timeline);
    for (i = 0; i < 2; i++) {
        const struct Field *packet = nth_event(TYPE_INSTANT, i + 1, &event);

        assert_int_equal(get(packet, PACKET_TIME),
                         i ? (UINT64_C(1) << 59) - 2001 : 1000);
        assert_true(find(&event, TRACK_EVENT_NOTE, 0, &note));
        assert_int_equal(get(&note, NOTE_NAME_IID), NAME_UOPS);
        assert_int_equal(get(&note, NOTE_NUMBER), i ? UINT16_MAX : 0);
        assert_true(find(&event, TRACK_EVENT_NOTE, 1, &note));
        assert_int_equal(get(&note, NOTE_NAME_IID), NAME_CYCLES);
        assert_int_equal(get(&note, NOTE_NUMBER), i ? UINT32_MAX : 0);
    }
    nth_event(TYPE_INSTANT, 3, &event);
    assert_int_equal(get(&event, TRACK_EVENT_CATEGORY_IID), CATEGORY_OCULAR);
    assert_true(find(&event, TRACK_EVENT_NOTE, 0, &note));
    assert_int_equal(get(&note, NOTE_NUMBER), UINT64_MAX);
    Ring_free(ring);
    Timeline_free(timeline);
}

static void each_thread_has_a_clock_and_64_share_names(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 30);
    struct Ring *ring = Ring_new(NULL);
    unsigned number, cleared = 0, tracks = 0;
    struct Field field, defaults;
    size_t i;

    (void)state;
    for (number = 0; number < 100; number++) {
        Ring_push(ring, 2000 + number, EVENT_ENTER, Event_call(1, 0));
        Ring_push(ring, 3000, EVENT_LEAVE, Event_call(1, 0));
        add_thread(timeline, number, ring);
        Ring_clear(ring);
    }
    write_file(timeline);
    for (i = 0; i < packet_count; i++) {
        bool clears = has(&packets[i], PACKET_FLAGS) &&
                      get(&packets[i], PACKET_FLAGS) == FLAG_STATE_CLEARED;

        cleared += clears;
        assert_int_equal(get(&packets[i], PACKET_SEQUENCE), cleared);
        if (!find(&packets[i], PACKET_DEFAULTS, 0, &defaults))
            continue;
        assert_int_equal(get(&defaults, DEFAULTS_CLOCK), 64 + tracks % 64);
        assert_true(find(&defaults, DEFAULTS_EVENT, 0, &field));
        assert_int_equal(get(&field, TRACK_EVENT_TRACK),
                         UINT64_C(4242) << 32 | tracks);
        tracks++;
    }
    assert_int_equal(tracks, 101); // and the process's
    assert_int_equal(cleared, 2);
    assert_int_equal(count_with(PACKET_INTERNED), 2 + 2);
    Ring_free(ring);
    Timeline_free(timeline);
}

static void a_full_disk_is_reported(void **state)
{
    struct Timeline *timeline = calls(FEWER(50000));
    struct TimelineView *view = Timeline_freeze(timeline);
    const struct PerfettoTrace trace = {.view = view, .hz = 1e9};
    struct PerfettoResult result;
    char full[64];

    (void)state;
    snprintf(full, sizeof full, "/tmp/ocular-full-%d.pftrace", (int)getpid());
    assert_int_equal(symlink("/dev/full", full), 0);
    assert_int_equal(Perfetto_write(&trace, full, &result), -ENOSPC);
    unlink(full);
    TimelineView_free(view);
    Timeline_free(timeline);
}

static int make_path(void **state)
{
    int fd = mkstemps(path, 8);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_timeline),
        cmocka_unit_test(a_call_takes_thirteen_bytes_and_its_name_comes_once),
        cmocka_unit_test(names_are_utf8_and_placed),
        cmocka_unit_test(steps_of_a_task_have_a_flow),
        cmocka_unit_test(loops_have_their_numbers_at_both_ends),
        cmocka_unit_test(each_thread_has_a_clock_and_64_share_names),
        cmocka_unit_test(a_full_disk_is_reported),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
