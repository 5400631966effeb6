// SPDX-License-Identifier: MIT
#include "formats/own_events.h"
#include "formats/event_buffer.h"
#include "formats/wait_slices.h"
#include "ipc/snapshot.h"

#include "ipc/base/array.h"
#include <stdio.h>

struct Walk {
    struct TraceWriter *writer;
    struct SampleReader samples;
    struct EventBuffer buffer;
    struct WaitSlices waits;
};

// Returns the thread with the number `number`, or NULL if the thread is not in
// the file.
static const struct TimelineThread *find_thread(const struct Walk *walk,
                                                unsigned number)
{
    const struct TimelineView *view = walk->writer->trace->view;
    size_t low =
        ARRAY_BOUND(view->thread_count, view->threads[middle].number < number);

    return low < view->thread_count && view->threads[low].number == number &&
                   walk->writer->written[low]
               ? &view->threads[low]
               : NULL;
}

static int put_counter(const struct Walk *walk, const struct Event *event)
{
    static const struct {
        const char *name, *unit;
        double scale; // Factor by which the event's value is multiplied.
    } all[] = {
        [OWN_EVENT_CPU] = {"CPU", "% of a core", 1e-4},
        [OWN_EVENT_OVERHEAD] = {"Ocular's overhead", "% of the CPU time", 1e-4},
        [OWN_EVENT_ARMED] = {"hooks that are in", "hooks", 1},
    };
    enum OwnEventCounter which = OwnEvent_which(event);
    uint64_t ns = TraceWriter_ns(walk->writer, Event_ticks(event));
    uint64_t before = OwnEvent_ms(event) * UINT64_C(1000000);
    struct TraceCounter counter = {.which = which};

    if (which >= OWN_EVENT_COUNTERS)
        // The event is of a kind that only a newer version of Ocular knows.
        return 0;
    if (which == OWN_EVENT_CPU) {
        counter.thread = find_thread(walk, OwnEvent_thread(event));
        if (!counter.thread)
            return 0;
    }
    counter.name = all[which].name;
    counter.unit = all[which].unit;
    counter.value = all[which].scale * (double)OwnEvent_value(event);
    return walk->writer->format->counter(
        walk->writer, ns > before ? ns - before : 0, &counter);
}

static int put_change(const struct Walk *walk, const struct Event *event)
{
    struct TraceWriter *writer = walk->writer;
    const struct Opcodes *opcodes = writer->trace->opcodes;
    struct TraceChange change = {.id = Event_id(event),
                                 .line = OwnEvent_line(event)};

    snprintf(change.name, sizeof change.name, "%s -> %s",
             Opcodes_text(opcodes, OwnEvent_from(event)),
             Opcodes_text(opcodes, OwnEvent_to(event)));
    return writer->format->change(
        writer, TraceWriter_ns(writer, Event_ticks(event)), &change);
}

static int put_dark(const struct Walk *walk, uint32_t id, uint64_t begin,
                    uint64_t end, bool open)
{
    struct TraceWriter *writer = walk->writer;
    uint64_t first = writer->trace->view->first_ticks;
    struct TraceName name;
    struct TraceSlice dark = {
        .kind = SLICE_DARK,
        .number = id,
        .begin_ns = TraceWriter_ns(writer, begin > first ? begin : first),
        .end_ns = TraceWriter_ns(writer, end),
        .begin_word = begin < first ? Trace_begin_word(CALL_EARLIER) : NULL,
        .end_word = open ? Trace_end_word(CALL_OPEN) : NULL};

    if (end <= begin || end <= first)
        return 0;
    TraceWriter_name(writer, id, &name);
    dark.name = name.name;
    dark.notes[0] = (struct TraceNote){"file", name.file, 0};
    dark.notes[1] = (struct TraceNote){"line", NULL, name.line};
    return writer->format->slice(writer, &dark);
}

static int put_rearmed(const struct Walk *walk, const struct Event *event)
{
    uint64_t end = Event_ticks(event), dark = OwnEvent_dark_ticks(event);

    return put_dark(walk, Event_id(event), end > dark ? end - dark : 0, end,
                    false);
}

static int put_still_dark(const struct Walk *walk)
{
    const struct PerfettoTrace *trace = walk->writer->trace;
    int error = 0;
    size_t i;

    for (i = 0; !error && i < trace->dark_count; i++)
        error = put_dark(walk, trace->dark[i].id, trace->dark[i].ticks,
                         trace->view->last_ticks, true);
    return error;
}

static int put(struct Walk *walk, const struct Event *event)
{
    struct TimelineSample sample;

    if (Event_kind(event) == EVENT_COUNTER)
        return put_counter(walk, event);
    if (Event_kind(event) == EVENT_CHANGE)
        return put_change(walk, event);
    if (Event_kind(event) == EVENT_REARMED)
        return put_rearmed(walk, event);
    if (!SampleReader_take(&walk->samples, event, &sample))
        return 0;
    if (SampleTrack_is_wait(&sample))
        return WaitSlices_add(&walk->waits, &sample);
    return walk->writer->format->sample(
        walk->writer, TraceWriter_ns(walk->writer, sample.ticks), &sample);
}

static int put_chunk(struct Walk *walk, const struct TimelineChunk *chunk)
{
    const struct Event *events = EventBuffer_read(&walk->buffer, chunk);
    size_t i, count = events ? chunk->event_count : 0;
    int error = 0;

    // The next sample may have an incomplete stack, because this chunk cannot
    // be read.
    if (!events)
        walk->samples = (struct SampleReader){0};
    for (i = 0; !error && i < count; i++)
        error = put(walk, &events[i]);
    return error;
}

// Writes the stalls of event loops, which are in the newest snapshot and not
// among the events. The numbers in the file may be wrong, because an attacker
// may have written it.
static int put_stalls(const struct Walk *walk)
{
    struct TraceWriter *writer = walk->writer;
    const struct PerfettoTrace *trace = writer->trace;
    uint64_t first_ns = TraceWriter_ns(writer, trace->view->first_ticks);
    size_t i, count = trace->snapshot ? trace->snapshot->stall_count : 0;
    int error = 0;

    for (i = 0; !error && i < count; i++) {
        const struct StallRow *stall = &trace->snapshot->stalls[i];
        struct TraceSlice slice = {.kind = SLICE_STALL};
        struct TraceNote *note = slice.notes;

        if (!(stall->at_s >= 0 && stall->at_s < TRACE_LONGEST_S) ||
            !(stall->seconds > 0 && stall->seconds < TRACE_LONGEST_S))
            continue;
        slice.thread = TraceWriter_thread(writer, stall->tid);
        slice.number = slice.thread ? slice.thread->number : UINT32_MAX;
        slice.name = stall->function ? stall->function : "(unknown)";
        slice.begin_ns = writer->later_ns + (uint64_t)(1e9 * stall->at_s);
        slice.end_ns = slice.begin_ns + (uint64_t)(1e9 * stall->seconds);
        if (slice.end_ns <= first_ns)
            continue;
        if (slice.begin_ns < first_ns) {
            slice.begin_ns = first_ns;
            slice.begin_word = Trace_begin_word(CALL_EARLIER);
        }
        if (stall->task)
            *note++ = (struct TraceNote){"task", stall->task, 0};
        if (stall->file)
            *note++ = (struct TraceNote){"file", stall->file, 0};
        if (stall->line != NULL_U64)
            *note++ = (struct TraceNote){"line", NULL, stall->line};
        if (stall->stack)
            *note = (struct TraceNote){"stack", stall->stack, 0};
        error = writer->format->slice(writer, &slice);
    }
    return error;
}

int OwnEvents_write(struct TraceWriter *writer)
{
    const struct TimelineView *view = writer->trace->view;
    struct Walk walk = {.writer = writer};
    int error = WaitSlices_init(&walk.waits, writer);

    if (!error &&
        (writer->chunk < view->chunk_count || writer->trace->dark_count ||
         (writer->trace->snapshot && writer->trace->snapshot->stall_count)))
        error = writer->format->own(writer);
    while (!error && writer->chunk < view->chunk_count)
        error = put_chunk(&walk, view->chunks[writer->chunk++]);
    if (!error)
        error = put_still_dark(&walk);
    if (!error)
        error = WaitSlices_end(&walk.waits);
    if (!error)
        error = put_stalls(&walk);
    WaitSlices_release(&walk.waits);
    EventBuffer_release(&walk.buffer);
    return error;
}
