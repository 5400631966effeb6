// SPDX-License-Identifier: MIT
// Writes a file with one or several traces for Perfetto. The ending of the
// file's name decides the format. The functions of perfetto.c go through the
// threads of a recording, and call a function of the format for each event.
#include "formats/perfetto.h"
#include "formats/instant.h"
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

struct Walk {
    const struct TraceFormat *format;
    struct TraceWriter *writer;
    size_t depth; // Number of open calls of this thread.
    // Number of events that were left out since a gap was last written.
    uint64_t left_out;
};

// --- Callbacks of a replay ---------------------------------------------------

// Enters a level of nested calls. Returns false if the level is too deep for
// Perfetto. The event of a level that is too deep must be left out.
static bool descend(struct Walk *walk)
{
    bool shown = walk->depth++ < DEEPEST;

    walk->left_out += !shown;
    return shown;
}

// Leaves a level of nested calls. Returns 1 if the event must be left out,
// otherwise 0 or -errno.
static int ascend(struct Walk *walk, uint64_t ticks)
{
    uint64_t left_out = walk->left_out;

    if (--walk->depth >= DEEPEST) {
        walk->left_out++;
        return 1;
    }
    walk->left_out = 0;
    return left_out ? walk->format->gap(walk->writer, ticks,
                                        "deeper than 500 calls", left_out)
                    : 0;
}

static int begin_call(void *context, uint64_t ticks, uint32_t id,
                      enum CallBegin how)
{
    struct Walk *walk = context;

    return descend(walk) ? walk->format->begin(walk->writer, ticks, id, how)
                         : 0;
}

static int end_call(void *context, uint64_t ticks, uint32_t id,
                    enum CallEnd how)
{
    struct Walk *walk = context;
    int skip = ascend(walk, ticks);

    if (skip)
        return skip < 0 ? skip : 0;
    return walk->format->end(walk->writer, ticks, id, how);
}

static int step(void *context, uint64_t ticks, uint32_t inside, uint64_t what,
                bool begins)
{
    struct Walk *walk = context;
    int skip = begins ? !descend(walk) : ascend(walk, ticks);

    if (skip)
        return skip < 0 ? skip : 0;
    return walk->format->step(walk->writer, ticks, inside, what, begins);
}

static int task(void *context, uint64_t ticks, const struct Mark *task)
{
    struct Walk *walk = context;
    int skip = task ? !descend(walk) : ascend(walk, ticks);

    if (skip)
        return skip < 0 ? skip : 0;
    return walk->format->task(walk->writer, ticks, task);
}

static int mark(void *context, uint64_t ticks, const struct Event *event,
                uint32_t inside)
{
    struct Walk *walk = context;

    if (Event_kind(event) == EVENT_LOOP && walk->depth > DEEPEST) {
        walk->left_out++;
        return 0;
    }
    if (Event_kind(event) == EVENT_LOOP)
        return walk->format->loop(walk->writer, ticks, event, inside);
    if (Event_kind(event) == EVENT_LOST)
        return walk->format->gap(walk->writer, ticks, "lost", event->what);
    if (!Instant_of(Event_kind(event))->lasts)
        inside = Event_id(event);
    else if (!inside) // Inside no call of a traced function.
        return 0;
    return walk->format->instant(walk->writer, ticks, event, inside);
}

static int said(void *context, uint64_t ticks, const struct Mark *mark)
{
    const struct Walk *walk = context;

    return walk->format->said(walk->writer, ticks, mark);
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
static int write_thread(struct Walk *walk, const struct TimelineThread *thread,
                        struct IdMap *ends, bool *written)
{
    const struct ReplayTarget target = {walk, begin_call, end_call, step,
                                        task, mark,       said};
    struct TraceWriter *writer = walk->writer;
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
    error = walk->format->thread(writer, thread);
    if (!error && thread->forgotten) {
        uint64_t at = view->first_ticks > floor ? view->first_ticks : floor;

        error = walk->format->gap(writer, at, "forgotten", thread->forgotten);
    }
    if (!error)
        error = Replay_thread(view, view->chunks + from, count, floor, &target);
    *end = writer->last;
    return error;
}

static int write_threads(struct Walk *walk)
{
    struct TraceWriter *writer = walk->writer;
    const struct TimelineView *view = writer->trace->view;
    bool *written = Heap_zeroed(view->thread_count + 1, sizeof *written);
    struct IdMap ends = {.count = 0};
    int error = written ? 0 : -ENOMEM;
    size_t i;

    for (i = 0; !error && i < view->thread_count; i++)
        if (view->threads[i].number != TIMELINE_OWN)
            error = write_thread(walk, &view->threads[i], &ends, &written[i]);
    if (!error) // The remaining chunks are of Ocular's own threads.
        error = OwnEvents_write(writer, walk->format, written);
    IdMap_release(&ends);
    Heap_free(written);
    return error;
}

static int write_document(struct Walk *walk)
{
    struct TraceWriter *writer = walk->writer;
    const struct PerfettoTrace *trace;
    int error = 0;
    size_t i;

    for (trace = writer->first; trace; trace = trace->next)
        for (i = 0; i < trace->view->chunk_count; i++)
            writer->total += trace->view->chunks[i]->event_count;
    for (trace = writer->first; trace && !error; trace = trace->next) {
        TraceWriter_init(writer, trace);
        error = walk->format->head(writer);
        if (!error)
            error = write_threads(walk);
    }
    if (!error && walk->format->tail)
        error = walk->format->tail(writer);
    return error ? error : TraceWriter_flush(writer);
}

int Perfetto_write(const struct PerfettoTrace *trace, const char *path,
                   struct PerfettoResult *result)
{
    bool binary = FileKind_of(path).content == FILE_PFTRACE;
    struct Walk walk = {.format = binary ? &Pftrace_format : &JsonTrace_format};
    struct TraceWriter *writer = Heap_zeroed(1, walk.format->writer_bytes);
    int error;

    if (!writer)
        return -ENOMEM;
    walk.writer = writer;
    error = trace->descriptor
                ? Output_borrow(&writer->output, trace->descriptor,
                                trace->opened, path)
                : Output_open(&writer->output, path);
    if (error) {
        Heap_free(writer);
        return error;
    }
    writer->first = trace;
    error = write_document(&walk);
    if (error)
        Output_abort(&writer->output);
    else
        error =
            Output_commit(&writer->output, trace->overwrite, &result->bytes);
    result->events = writer->events;
    if (walk.format->release)
        walk.format->release(writer);
    Encoded_release(&writer->encoded);
    Heap_free(writer);
    return error;
}
