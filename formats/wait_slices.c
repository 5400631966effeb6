// SPDX-License-Identifier: MIT
#include "formats/wait_slices.h"
#include "ipc/base/heap.h"

#include <errno.h>

// Two waits of a thread follow each other if they are less than NEAR_S seconds
// apart.
#define NEAR_S 5e-3
// Two waits belong to different observations if they are more than APART_S
// seconds apart.
#define APART_S 20e-3

int WaitSlices_init(struct WaitSlices *waits, struct TraceWriter *writer)
{
    size_t count = writer->trace->view->thread_count;

    *waits = (struct WaitSlices){
        .writer = writer,
        .newest = Heap_zeroed(count + 1, sizeof *waits->newest)};
    return waits->newest ? 0 : -ENOMEM;
}

static int put(const struct WaitSlices *waits, size_t thread)
{
    const struct WaitSlice *wait = &waits->newest[thread];
    struct TraceWriter *writer = waits->writer;
    const char *kind = WaitKind_name(wait->kind);
    struct TraceName name;
    struct TraceSlice slice = {.kind = SLICE_WAIT,
                               .thread = &writer->trace->view->threads[thread],
                               .number =
                                   writer->trace->view->threads[thread].number,
                               .name = kind ? kind : "(unknown)",
                               .begin_ns = TraceWriter_ns(writer, wait->begin),
                               .end_ns = TraceWriter_ns(writer, wait->end)};

    if (wait->end <= wait->begin)
        return 0;
    slice.notes[0] =
        (struct TraceNote){"observations", NULL, wait->observations};
    if (wait->id) {
        TraceWriter_name(writer, wait->id, &name);
        slice.notes[1] = (struct TraceNote){"function", name.name, 0};
        slice.notes[2] = (struct TraceNote){"file", name.file, 0};
        slice.notes[3] = (struct TraceNote){"line", NULL, name.line};
    }
    return writer->format->slice(writer, &slice);
}

// Returns the ticks at which a wait begins. If many threads wait, the recorded
// length of a wait also stands for waits of other threads. So the wait cannot
// begin before the previous observation.
static uint64_t begin_of(struct WaitSlices *waits,
                         const struct TimelineSample *sample)
{
    double hz = waits->writer->trace->hz;
    double ticks = sample->wait.ns / 1e9 * hz;
    uint64_t begin =
        sample->ticks > ticks ? sample->ticks - (uint64_t)ticks : 0;

    if (sample->ticks > waits->observed + (uint64_t)(APART_S * hz)) {
        waits->before = waits->observed;
        waits->observed = sample->ticks;
    }
    return begin > waits->before ? begin : waits->before;
}

int WaitSlices_add(struct WaitSlices *waits,
                   const struct TimelineSample *sample)
{
    const struct PerfettoTrace *trace = waits->writer->trace;
    uint64_t near = (uint64_t)(NEAR_S * trace->hz);
    uint64_t begin = begin_of(waits, sample);
    const struct TimelineThread *thread =
        TraceWriter_thread(waits->writer, (uint64_t)sample->tid);
    struct WaitSlice wait = {
        .end = sample->ticks, .kind = sample->wait.kind, .observations = 1};
    struct WaitSlice *newest;
    int error;

    if (!thread || !sample->wait.timed || wait.kind == WAITS_CPU)
        return 0;
    wait.id = sample->depth ? sample->path[sample->depth - 1] : 0;
    newest = &waits->newest[thread - trace->view->threads];
    wait.begin = begin > newest->end ? begin : newest->end;
    if (wait.end <= wait.begin)
        return 0;
    if (newest->end && newest->kind == wait.kind && newest->id == wait.id &&
        wait.begin <= newest->end + near) {
        newest->end = wait.end;
        newest->observations++;
        return 0;
    }
    error = put(waits, (size_t)(thread - trace->view->threads));
    *newest = wait;
    return error;
}

int WaitSlices_end(struct WaitSlices *waits)
{
    size_t i, count = waits->writer->trace->view->thread_count;
    int error = 0;

    for (i = 0; !error && i < count; i++)
        error = put(waits, i);
    return error;
}

void WaitSlices_release(struct WaitSlices *waits)
{
    Heap_free(waits->newest);
}
