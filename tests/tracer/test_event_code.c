// SPDX-License-Identifier: MIT
// Tests the encoding of events in a recording. Every event can be read back,
// and usual events are short. Truncated and random data are in
// tests/formats/test_recording.c and tests/fuzz.
#include "tracer/timeline/event_code.h"

#include "tests/random.h"

#include <stdbool.h>

#include "tests/unit.h"

#define COUNT 1000u

static struct Event events[COUNT], back[COUNT];
static uint8_t code[COUNT * (EVENT_CODE_MOST + 1)];

static void random_events(void)
{
    size_t i;

    for (i = 0; i < COUNT; i++) {
        unsigned shift = (unsigned)(random_u64() % 64);

        events[i] = (struct Event){
            Event_when(random_u64() >> shift,
                       (enum EventKind)(random_u64() % EVENT_CODE_PAD)),
            random_u64() >> random_u64() % 64};
    }
}

// Encodes the events. If `pads` is true, writes bytes between the events that
// are no events.
static size_t write_all(bool pads)
{
    uint64_t ticks = 0;
    uint8_t *at = code;
    size_t i;

    for (i = 0; i < COUNT; i++) {
        at = EventCode_put(at, &events[i], &ticks);
        while (pads && random_u64() % 8 == 0 && at < code + sizeof code - 20)
            *at++ = EVENT_CODE_PAD;
    }
    return (size_t)(at - code);
}

TEST(any_come_back)
{
    unsigned round;

    for (round = 0; round < 200; round++) {
        size_t size;

        random_events();
        size = write_all(true);
        assert_int_equal(EventCode_read(code, size, NULL, SIZE_MAX), COUNT);
        assert_int_equal(EventCode_read(code, size, back, COUNT), COUNT);
        assert_memory_equal(events, back, sizeof events);
        assert_int_equal(EventCode_read(code, size, back, 7), 7);
    }
}

TEST(usual_ones_are_short)
{
    uint64_t ticks = UINT64_C(1) << 50;
    size_t i;

    for (i = 0; i < COUNT; i++)
        events[i] = (struct Event){
            Event_when(ticks += 700, i % 2 ? EVENT_LEAVE : EVENT_ENTER),
            Event_call(300 + i % 50, 12)};
    assert_in_range(write_all(false), COUNT, 7 * COUNT);
}
