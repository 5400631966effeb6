// SPDX-License-Identifier: MIT
// Measures the speed of writing a timeline in each format, and the size of its
// file. The timeline is made up. The timeline has one thread with nested calls,
// and a loop event for every four calls. bench.py starts this program.
// write_timeline FILE EVENTS prints bytes, events, CPU seconds, and the peak of
// resident memory in MiB before and after.
#include "formats/perfetto.h"
#include "ipc/base/now.h"
#include "tests/formats/frozen.h"
#include "tests/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define FUNCTIONS 200
#define HOT 20 // number of functions to which nine of ten calls go

static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static char text[64];

    (void)context;
    snprintf(text, sizeof text, "Benchmark.function_%u", id);
    *name = (struct PerfettoName){text, "/srv/app/lib/benchmark/program.py", id,
                                  0x7f0000000000 + id * 512};
    return true;
}

static struct Ring *ring;
static uint64_t now = 1000000;

static void put(enum EventKind kind, uint64_t what)
{
    now += 100 + random_u64() % 300; // ticks; a ns has 2.5 ticks
    Ring_push(ring, now, kind, what);
}

static void call(unsigned level)
{
    uint64_t dice = random_u64();
    uint32_t id =
        (uint32_t)(dice % 10 ? dice / 10 % HOT : dice / 10 % FUNCTIONS);

    put(EVENT_ENTER, Event_call(id + 1, level));
    if (level < 30 && dice >> 40 & 1)
        call(level + 1);
    put(EVENT_LEAVE, Event_call(id + 1, level));
}

static long peak_mib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
    struct Timeline *timeline = Frozen_timeline(SIZE_MAX / 2);
    struct Track *track = Timeline_begin(timeline, 0, 1, "MainThread");
    struct PerfettoTrace trace = {
        .pid = 1,
        .start_ticks = now,
        .hz = 2.5e9,
        .name = name_of,
    };
    long events = argc > 2 ? atol(argv[2]) : 0, made = 0;
    bool loops = argc > 3;
    const struct FormatsFile file = {.path = argv[1], .overwrite = true};
    struct PerfettoResult result;
    struct RecordingReader reader;
    long before;
    double s;
    int error;

    ring = Ring_new(NULL);
    while (made < events) {
        call(0);
        if (loops)
            put(EVENT_LOOP, Event_loop(900 + random_u64() % 400, 7, 21));
        made += Timeline_drain(timeline, track, ring);
    }
    trace.view = Frozen_view(timeline, &reader);
    before = peak_mib();
    s = Now_s(CLOCK_PROCESS_CPUTIME_ID);
    error = Perfetto_write(&trace, &file, &result);
    s = Now_s(CLOCK_PROCESS_CPUTIME_ID) - s;
    if (error)
        return 1;
    printf("%llu %llu %.3f %ld %ld\n", (unsigned long long)result.bytes,
           (unsigned long long)result.events, s, before, peak_mib());
    RecordingReader_close(&reader);
    Timeline_free(timeline);
    Ring_free(ring);
    return 0;
}
