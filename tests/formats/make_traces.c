// SPDX-License-Identifier: MIT
// Writes random timelines in both formats, for a test that compares the
// formats. The command `make_traces DIRECTORY COUNT SEED` writes N.json and
// N.pftrace. The timelines contain calls that do not end, times that go back,
// names that are not valid text, and the smallest and the largest numbers.
#include "formats/perfetto.h"
#include "tests/formats/frozen.h"
#include "tests/random.h"
#include "tracer/timeline/mark.h"
#include "tracer/timeline/own_event.h"
#include "tracer/timeline/sample_track.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// With this many threads, the file needs clocks for more than two sequences of
// packets.
#define THREADS 150

static const struct Opcodes opcodes = {
    .name = {"NOP", "BINARY_OP", "BINARY_OP_ADD_INT"}};

static uint64_t below(uint64_t limit)
{
    return random_u64() % limit;
}

static uint32_t random_id(void)
{
    return below(50) ? (uint32_t)below(300) : UINT32_MAX - (uint32_t)below(3);
}

static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static const char *const bad[] = {
        "a\"\\\n\x01\xff</script>\xed\xa0\x80",
        "",
        "\xc3",
        "<lambda>",
        "\xf0\x9f\x91\xa8",
        "loop @3: x",
    };
    static char text[700];

    (void)context;
    if (id % 40 == 4)
        return false;
    snprintf(text, sizeof text, "f%u", id);
    if (id % 40 == 5) // This name is too long, and is cut within a character.
        for (text[0] = 0; strlen(text) < 690;)
            strcat(text, "\xc3\xa4\xe2\x82\xac");
    *name = (struct PerfettoName){text, "/src/a.py", id, 0xabc000 + id};
    if (id % 40 < 4)
        *name = (struct PerfettoName){bad[id % 6], bad[(id + 1) % 6],
                                      UINT32_MAX - id, UINTPTR_MAX - id};
    return true;
}

// Pushes a step of an asyncio task, and the call that belongs to the step.
// Sometimes an event before the step says that its text was lost.
static void push_task(struct Ring *ring, uint64_t now)
{
    static const char *const names[] = {"Task-1", "", "a\"\x01 \xc3\xa4",
                                        "one of the longer names"};
    const char *name = names[below(4)];
    struct Mark task = {
        .kind = EVENT_TASK,
        .number = 1 + (uint32_t)(below(9) ? below(5) : below(1 << 28)),
        .name = name,
        .name_size = strlen(name)};

    if (below(9) == 0)
        Ring_push(ring, now, EVENT_LOST, 1);
    Mark_push(ring, now, &task);
}

// Pushes a valid event, which begins a call or ends the newest call.
static void push_call(struct Ring *ring, uint64_t now)
{
    static uint32_t open[8];
    static unsigned depth;

    if (depth < 8 && (depth == 0 || below(2))) {
        open[depth] = random_id();
        Ring_push(ring, now, EVENT_ENTER, Event_call(open[depth], depth));
        depth++;
        if (below(4) == 0)
            push_task(ring, now);
    } else {
        depth--;
        Ring_push(ring, now, (enum EventKind)(EVENT_LEAVE + below(3)),
                  Event_call(open[depth], depth));
    }
}

// Pushes an event whose time is usually close to the time of the event before.
static void push(struct Ring *ring, uint64_t *now)
{
    static const uint64_t steps[] = {1, 100, 1000, 100000, 1000000000};
    uint64_t step = below(50) ? steps[below(4)] : steps[4];
    uint64_t what = Event_call(random_id(), (unsigned)below(12));
    enum EventKind kind = (enum EventKind)below(2); // Most of the calls end.

    *now += below(step);
    if (below(200) == 0)
        *now -= below(*now < 5000 ? *now : 5000);
    if (below(2)) {
        push_call(ring, *now);
        return;
    }
    if (below(40) == 0)
        push_task(ring, *now);
    if (below(10) == 0)
        kind = (enum EventKind)below(EVENT_WAIT + 1);
    else if (below(4) == 0)
        kind = EVENT_LOOP;
    if (kind == EVENT_LOOP)
        what = Event_loop(below(3) ? below(5000) : random_u64(),
                          below(3) ? below(90) : random_u64(),
                          (unsigned)below(below(9) ? 3 : 65536));
    if (below(9) == 0) {
        // Each instruction has the number of a different code unit.
        unsigned unit = (unsigned)below(9);

        kind = EVENT_STEP;
        what = Event_step(unit, (uint8_t)(unit % 4), unit / 2);
    }
    if (kind == EVENT_LOST)
        what = below(2) ? 1 + below(9) : random_u64();
    Ring_push(ring, *now, kind, what);
}

static void fill(struct Timeline *timeline, unsigned threads, uint64_t now)
{
    struct Ring *ring = Ring_new(NULL);
    unsigned number;

    for (number = 0; number < threads; number++) {
        char name[64];
        struct Track *track;
        uint64_t events = below(below(3) ? 200 : 3), i, at = now;

        snprintf(name, sizeof name, "thread\xff %u \xc3\xa4", number);
        track =
            Timeline_begin(timeline, number, (pid_t)(1 + below(threads)), name);
        for (i = 0; i < events; i++)
            push(ring, &at);
        Timeline_drain(timeline, track, ring);
        if (below(2))
            now = at;
    }
    Ring_free(ring);
}

static void add_sample(struct SampleTrack *track, struct Timeline *timeline,
                       uint64_t ticks)
{
    uint32_t stack[SAMPLE_TRACK_DEPTH];
    size_t depth = below(below(9) ? 6 : SAMPLE_TRACK_DEPTH + 1), i;
    const struct TimelineSample sample = {.ticks = ticks,
                                          .tid = (pid_t)(1 + below(9)),
                                          .cpu_ns = 4e6,
                                          .path = stack,
                                          .depth = depth};

    for (i = 0; i < depth; i++)
        stack[i] = below(3) ? (uint32_t)i : random_id();
    SampleTrack_add(track, timeline, &sample);
}

// Adds events of Ocular's own threads. Some of these events name a thread that
// does not exist.
static void fill_own(struct Timeline *timeline, uint64_t now)
{
    struct SampleTrack *track = calloc(1, sizeof *track);
    uint64_t count = below(below(3) ? 200 : 2), i;

    for (i = 0; i < count; i++) {
        uint64_t ticks = now + below(100000), what = random_u64();
        struct Event event;

        if (below(2)) {
            add_sample(track, timeline, ticks);
            continue;
        }
        if (below(3))
            event = OwnEvent_counter(
                ticks, (enum OwnEventCounter)below(OWN_EVENT_COUNTERS + 1),
                (unsigned)below(2000), what % 50, (unsigned)below(THREADS));
        else
            event = below(2)
                        ? OwnEvent_change(ticks, random_id(),
                                          (uint32_t)below(90000),
                                          (uint8_t)below(4), (uint8_t)below(4))
                        : OwnEvent_rearmed(ticks, random_id(),
                                           below(2) ? what : below(50000));
        Timeline_add(timeline, &event, 1);
    }
    free(track);
}

static int write_pair(const char *directory, unsigned number)
{
    static const double hertz[] = {1e9, 2.4e9, 3333333333.3, 24e6, 1e6};
    static const char *const endings[] = {"json", "pftrace"};
    struct Timeline *timeline = Frozen_timeline(below(2) ? 1 << 30 : 1 << 16);
    // Ticks have 60 bits, and some timelines end near the largest number of
    // ticks.
    uint64_t begin = below(3) ? 5000 : (UINT64_C(1) << 60) - 100000000000;
    struct RecordingDark dark[] = {
        {begin, 7, 0}, {0, 8, 0}, {begin + 50000, 9, 0}};
    struct RecordingReader reader;
    struct PerfettoResult result;
    struct PerfettoTrace trace = {
        .pid = 4242,
        .command = below(2) ? "python x.py" : NULL,
        .python = "3.13.0",
        .mode = "adaptive",
        .threshold = random_u64(),
        .start_ticks = below(3) ? begin : 0,
        .start_unix_ns = 1700000000000000000u,
        .hz = hertz[below(5)],
        .opcodes = &opcodes,
        .dark = dark,
        .dark_count = below(4),
        .name = name_of,
    };
    int error = 0, i;

    fill(timeline, below(4) ? 3 : THREADS, below(2) ? begin : begin / 2);
    if (below(3))
        fill_own(timeline, begin);
    trace.view = Frozen_view(timeline, &reader);
    for (i = 0; i < 2 && !error; i++) {
        char path[512];
        const struct FormatsFile file = {.path = path, .overwrite = true};

        snprintf(path, sizeof path, "%s/%u.%s", directory, number, endings[i]);
        error = Perfetto_write(&trace, &file, &result);
    }
    RecordingReader_close(&reader);
    Timeline_free(timeline);
    return error;
}

int main(int argc, char **argv)
{
    unsigned count = argc == 4 ? (unsigned)atoi(argv[2]) : 0, i;

    if (!count)
        return 2;
    seed = strtoull(argv[3], NULL, 10) * 2 + 1;
    // The first random numbers of small seeds are similar.
    for (i = 0; i < 20; i++)
        random_u64();
    for (i = 0; i < count; i++)
        if (write_pair(argv[1], i))
            return 1;
    return 0;
}
