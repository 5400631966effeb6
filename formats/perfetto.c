// SPDX-License-Identifier: MIT
// Writes a file with one or several traces for Perfetto. The ending of the
// file's name decides the format. The functions of perfetto.c go through the
// threads of a recording, and call a function of the format for each event.
#include "formats/perfetto.h"
#include "formats/json_trace.h"
#include "formats/own_events.h"
#include "formats/pftrace.h"
#include "ipc/base/heap.h"
#include "ipc/base/id_map.h"
#include "ipc/file_kind.h"

#include <errno.h>

// Perfetto supports 512 levels of nested slices in a track. If a call is nested
// more deeply, Perfetto closes the wrong call at its end. Calls on levels above
// DEEPEST are therefore left out and counted. The levels from 500 to 512 are
// needed for instructions inside the deepest call.
#define DEEPEST 500

// --- Callbacks of a replay ---------------------------------------------------

// Enters a level of nested calls. Returns false if the level is too deep for
// Perfetto. The event of a level that is too deep must be left out.
static bool descend(struct TraceWriter *writer)
{
    bool shown = writer->depth++ < DEEPEST;

    writer->left_out += !shown;
    return shown;
}

// Leaves a level of nested calls. Returns 1 if the event must be left out,
// otherwise 0 or -errno.
static int ascend(struct TraceWriter *writer, uint64_t ticks)
{
    uint64_t left_out = writer->left_out;

    if (--writer->depth >= DEEPEST) {
        writer->left_out++;
        return 1;
    }
    writer->left_out = 0;
    return left_out ? writer->format->gap(writer, ticks,
                                          "deeper than 500 calls", left_out)
                    : 0;
}

static int begin_call(void *context, uint64_t ticks, uint32_t id,
                      enum CallBegin how)
{
    struct TraceWriter *writer = context;

    return descend(writer) ? writer->format->begin(writer, ticks, id, how) : 0;
}

static int end_call(void *context, uint64_t ticks, uint32_t id,
                    enum CallEnd how)
{
    struct TraceWriter *writer = context;
    int skip = ascend(writer, ticks);

    if (skip)
        return skip < 0 ? skip : 0;
    return writer->format->end(writer, ticks, id, how);
}

static int step(void *context, uint64_t ticks, uint32_t inside, uint64_t what,
                bool begins)
{
    struct TraceWriter *writer = context;
    int skip = begins ? !descend(writer) : ascend(writer, ticks);

    if (skip)
        return skip < 0 ? skip : 0;
    return writer->format->step(writer, ticks, inside, what, begins);
}

static int task(void *context, uint64_t ticks, const struct Mark *task)
{
    struct TraceWriter *writer = context;
    int skip = task ? !descend(writer) : ascend(writer, ticks);

    if (skip)
        return skip < 0 ? skip : 0;
    return writer->format->task(writer, ticks, task);
}

static int mark(void *context, uint64_t ticks, const struct Event *event,
                uint32_t inside)
{
    struct TraceWriter *writer = context;

    if (Event_kind(event) == EVENT_LOOP && writer->depth > DEEPEST) {
        writer->left_out++;
        return 0;
    }
    if (Event_kind(event) == EVENT_LOOP)
        return writer->format->loop(writer, ticks, event, inside);
    if (Event_kind(event) == EVENT_LOST)
        return writer->format->gap(writer, ticks, "lost", event->what);
    // The function of an EVENT_WAIT is that of the innermost open call.
    if (Event_kind(event) == EVENT_DARK)
        inside = Event_id(event);
    else if (!inside) // Inside no call of a traced function.
        return 0;
    return writer->format->instant(writer, ticks, event, inside);
}

static int said(void *context, uint64_t ticks, const struct Mark *mark)
{
    struct TraceWriter *writer = context;

    return writer->format->said(writer, ticks, mark);
}

// --- Threads -----------------------------------------------------------------

// Skips the chunks of one thread, which come next in the view. Returns the
// number of chunks that were skipped.
static size_t take_chunks(struct TraceWriter *writer, unsigned number)
{
    const struct TimelineView *view = writer->trace->view;
    size_t from = writer->chunk;

    while (writer->chunk < view->chunk_count &&
           view->chunks[writer->chunk]->thread == number)
        writer->chunk++;
    return writer->chunk - from;
}

// Writes the events of one thread. Sets *written to true if the thread gets
// into the file. The kernel can reuse a thread id. If a thread id is reused,
// the events of the new thread must not be earlier than the events of the old
// one. `ends` has, for each thread id, the time in ticks up to which its events
// are written.
static int write_thread(struct TraceWriter *writer,
                        const struct TimelineThread *thread, struct IdMap *ends,
                        bool *written)
{
    const struct ReplayTarget target = {writer, begin_call, end_call, step,
                                        task,   mark,       said};
    const struct TimelineView *view = writer->trace->view;
    size_t from = writer->chunk, count = take_chunks(writer, thread->number);
    uint64_t floor = writer->trace->start_ticks;
    uint64_t *end = IdMap_at(ends, (uint64_t)thread->tid);
    int error;

    if (!end)
        return -ENOMEM;
    // The recording has no event of the thread at all.
    if (!count && !thread->forgotten && !thread->lost)
        return 0;
    *written = true;
    if (*end > floor)
        floor = *end;
    writer->last = floor;
    error = writer->format->thread(writer, thread);
    if (!error && thread->forgotten) {
        uint64_t at = view->first_ticks > floor ? view->first_ticks : floor;

        error = writer->format->gap(writer, at, "forgotten", thread->forgotten);
    }
    if (!error)
        error = Replay_thread(view, view->chunks + from, count, floor, &target);
    *end = writer->last;
    return error;
}

static int write_threads(struct TraceWriter *writer)
{
    const struct TimelineView *view = writer->trace->view;
    struct IdMap ends = {.count = 0};
    int error;
    size_t i;

    writer->written =
        Heap_zeroed(view->thread_count + 1, sizeof *writer->written);
    error = writer->written ? 0 : -ENOMEM;
    for (i = 0; !error && i < view->thread_count; i++)
        if (view->threads[i].number != TIMELINE_OWN)
            error = write_thread(writer, &view->threads[i], &ends,
                                 &writer->written[i]);
    if (!error) // The remaining chunks are of Ocular's own threads.
        error = OwnEvents_write(writer);
    IdMap_release(&ends);
    Heap_free(writer->written);
    return error;
}

static int write_document(struct TraceWriter *writer)
{
    const struct PerfettoTrace *trace;
    int error = 0;
    size_t i;

    for (trace = writer->first; trace; trace = trace->next)
        for (i = 0; i < trace->view->chunk_count; i++)
            writer->total += trace->view->chunks[i]->event_count;
    for (trace = writer->first; trace && !error; trace = trace->next) {
        TraceWriter_init(writer, trace);
        error = writer->format->head(writer);
        if (!error)
            error = write_threads(writer);
    }
    if (!error && writer->format->tail)
        error = writer->format->tail(writer);
    return error ? error : TraceWriter_flush(writer);
}

int Perfetto_write(const struct PerfettoTrace *trace,
                   const struct FormatsFile *file,
                   struct PerfettoResult *result)
{
    bool binary = FileKind_of(file->path).content == FILE_PFTRACE;
    const struct TraceFormat *format =
        binary ? &Pftrace_format : &JsonTrace_format;
    struct TraceWriter *writer = Heap_zeroed(1, format->writer_bytes);
    int error;

    if (!writer)
        return -ENOMEM;
    writer->format = format;
    error = Output_open(&writer->output, file);
    if (error) {
        Heap_free(writer);
        return error;
    }
    writer->first = trace;
    error = write_document(writer);
    if (error)
        Output_abort(&writer->output);
    else
        error = Output_commit(&writer->output, &result->bytes);
    result->events = writer->events;
    if (format->release)
        format->release(writer);
    Encoded_release(&writer->encoded);
    Heap_free(writer);
    return error;
}
