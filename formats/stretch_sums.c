// SPDX-License-Identifier: MIT
#include "formats/stretch_sums.h"
#include "formats/event_buffer.h"
#include "ipc/base/heap.h"
#include "tracer/hook/garbage.h"
#include "tracer/timeline/own_event.h"
#include "tracer/timeline/sample_track.h"

#include <errno.h>
#include <math.h>
#include <string.h>

double StretchSums_length(const struct StretchSums *sums)
{
    return fmax(sums->to_s - sums->from_s, 1e-9);
}

bool StretchSums_has_waits(const struct StretchSums *sums)
{
    return sums->reader->head.version >= RECORDING_WAITS;
}

double StretchSums_s(const struct StretchSums *sums, uint64_t ticks)
{
    const struct PerfettoTrace *trace = &sums->reader->trace;

    return ticks > trace->start_ticks
               ? (double)(ticks - trace->start_ticks) / trace->hz
               : 0;
}

uint64_t StretchSums_ticks(const struct StretchSums *sums, double s)
{
    const struct PerfettoTrace *trace = &sums->reader->trace;

    return trace->start_ticks + (uint64_t)(fmax(s, 0) * trace->hz);
}

bool StretchSums_name(const struct StretchSums *sums, uint32_t id,
                      struct PerfettoName *name)
{
    const struct PerfettoTrace *trace = &sums->reader->trace;

    return trace->name(trace->context, id, name);
}

// Returns the beginning of the oldest chunk in the track of Ocular's own
// threads, in seconds since tracing began. Returns 0 if no chunk of this track
// was forgotten.
static double first_sample(const struct StretchSums *sums)
{
    const struct TimelineView *view = sums->reader->trace.view;
    bool forgotten = false;
    size_t i;

    for (i = 0; i < view->thread_count; i++)
        forgotten |= view->threads[i].number == TIMELINE_OWN &&
                     view->threads[i].forgotten;
    for (i = 0; forgotten && i < view->chunk_count; i++)
        if (view->chunks[i]->thread == TIMELINE_OWN)
            return StretchSums_s(sums, view->chunks[i]->first_ticks);
    return 0;
}

static void find_all(struct StretchSums *sums)
{
    const struct TimelineView *view = sums->reader->trace.view;
    const struct Snapshot *final = sums->reader->final;

    sums->all_to_s = StretchSums_s(sums, view->last_ticks);
    if (final && isfinite(final->uptime_s))
        sums->all_to_s = fmax(sums->all_to_s, final->uptime_s);
    sums->all_from_s = fmin(first_sample(sums), sums->all_to_s);
    if (view->forgotten)
        sums->counted_s = StretchSums_s(sums, view->whole_ticks);
}

void StretchSums_init(struct StretchSums *sums,
                      const struct RecordingReader *reader)
{
    *sums = (struct StretchSums){.reader = reader, .armed = NAN};
    Flame_init(&sums->flame);
    find_all(sums);
}

void StretchSums_release(struct StretchSums *sums)
{
    SumTable_release(&sums->functions);
    SumTable_release(&sums->callers);
    SumTable_release(&sums->threads);
    SumTable_release(&sums->instructions);
    SumTable_release(&sums->pairs);
    SumTable_release(&sums->spans.calls);
    WaitSums_release(&sums->waits);
    Flame_release(&sums->flame);
}

// --- Samples -----------------------------------------------------------------

static struct Sum *add_ns(struct SumTable *table, uint64_t key, double ns)
{
    struct Sum *sum = SumTable_get(table, key);

    if (!sum)
        return NULL;
    sum->ns += ns;
    sum->samples++;
    return sum;
}

// Returns true if a sample found the garbage collector running.
static bool is_garbage(const struct StretchSums *sums,
                       const struct TimelineSample *sample)
{
    struct PerfettoName name;

    return sample->in_c && sample->depth &&
           StretchSums_name(sums, sample->path[sample->depth - 1], &name) &&
           strcmp(name.name, GARBAGE_NAME) == 0;
}

// Adds the CPU time or the waiting time `ns` to the functions on the stack. A
// function that is on the stack several times counts only once, at its
// outermost frame. The sampler of a live process counts a function on a stack
// only once, too.
static void add_path(struct StretchSums *sums,
                     const struct TimelineSample *sample, double ns)
{
    bool garbage = is_garbage(sums, sample);
    uint32_t caller = 0;
    size_t i;

    sums->stamp++;
    for (i = 0; i < sample->depth; i++) {
        uint32_t id = sample->path[i];
        struct Sum *function =
            id ? SumTable_get(&sums->functions, Sum_key(id, 0)) : NULL;

        if (function && function->stamp != sums->stamp) {
            function->stamp = sums->stamp;
            function->total_ns += ns;
            function->total_c_ns += sample->in_c && !garbage ? ns : 0;
            function->total_gc_ns += garbage ? ns : 0;
            if (i)
                add_ns(&sums->callers, Sum_key(id, caller), ns);
        }
        caller = id;
    }
}

static void add_top(struct StretchSums *sums,
                    const struct TimelineSample *sample, uint32_t id)
{
    double c_ns = sample->in_c ? sample->cpu_ns : 0;
    struct Sum *sum = add_ns(&sums->functions, Sum_key(id, 0), sample->cpu_ns);

    if (sum)
        sum->c_ns += c_ns;
    if (!sample->at)
        return;
    sum = add_ns(&sums->instructions,
                 Sum_key(id, (uint32_t)(sample->at >> 32 & 0xffff)),
                 sample->cpu_ns);
    if (!sum)
        return;
    sum->what = sample->at;
    sum->calls += sample->in_c;
}

static void add_sample(struct StretchSums *sums,
                       const struct TimelineSample *sample)
{
    uint32_t top = sample->depth ? sample->path[sample->depth - 1] : 0;

    sums->samples++;
    sums->cpu_ns += sample->cpu_ns;
    add_path(sums, sample, sample->cpu_ns);
    if (top)
        add_top(sums, sample, top);
    else
        sums->else_ns += sample->cpu_ns;
    if (sample->tid)
        add_ns(&sums->threads, Sum_key((uint32_t)sample->tid, top),
               sample->cpu_ns);
    WaitSums_draw(&sums->flame, sample, 1);
}

// Adds a wait, which ends at the ticks of the sample. Only the part of the wait
// within the chosen stretch of the run is added.
static void add_wait(struct StretchSums *sums,
                     const struct TimelineSample *sample)
{
    double ticks = sample->wait.ns / 1e9 * sums->reader->trace.hz;
    double begin = (double)sample->ticks - ticks;
    double within = fmin((double)sample->ticks, (double)sums->to) -
                    fmax(begin, (double)sums->from);
    double part = fmin(within / ticks, 1);

    if (!(part > 0))
        return;
    if (sample->wait.timed)
        add_path(sums, sample, part * sample->wait.ns);
    WaitSums_add(&sums->waits, sample, part);
    WaitSums_draw(&sums->flame, sample, part);
}

// --- Events ------------------------------------------------------------------

static bool is_shown(const struct StretchSums *sums, uint64_t ticks)
{
    return ticks >= sums->from && ticks < sums->to;
}

static void add_counter(struct StretchSums *sums, const struct Event *event)
{
    if (OwnEvent_which(event) == OWN_EVENT_OVERHEAD) {
        sums->overhead += 1e-6 * (double)OwnEvent_value(event);
        sums->overheads++;
    } else if (OwnEvent_which(event) == OWN_EVENT_ARMED) {
        sums->armed = (double)OwnEvent_value(event);
    }
}

static void add_change(struct StretchSums *sums, const struct Event *event)
{
    struct StretchChange change = {Event_ticks(event), Event_id(event),
                                   OwnEvent_line(event), OwnEvent_from(event),
                                   OwnEvent_to(event)};
    struct Sum *pair =
        SumTable_get(&sums->pairs, Sum_key(1u + change.from, change.to));

    sums->changes[sums->change_count++ % STRETCH_CHANGES] = change;
    if (pair)
        pair->calls++;
}

static void add_to_curve(struct StretchSums *sums,
                         const struct TimelineSample *sample)
{
    double all_s = fmax(sums->all_to_s - sums->all_from_s, 1e-9);
    double part =
        (StretchSums_s(sums, sample->ticks) - sums->all_from_s) / all_s;

    if (part >= 0 && part <= 1)
        sums->curve[(int)fmin(part * STRETCH_CURVE, STRETCH_CURVE - 1)] +=
            (float)(sample->cpu_ns / 1e9 * STRETCH_CURVE / all_s);
}

// Handles an event in the track of Ocular's own threads. The caller must also
// pass the events before the chosen stretch of the run, because a stack is
// recorded as its difference from the stack before it.
static void add_own(struct StretchSums *sums, struct SampleReader *reader,
                    const struct Event *event)
{
    bool shown = is_shown(sums, Event_ticks(event));
    struct TimelineSample sample;
    bool is_sample = SampleReader_take(reader, event, &sample);

    if (is_sample && SampleTrack_is_wait(&sample)) {
        add_wait(sums, &sample);
        return;
    }
    if (is_sample)
        add_to_curve(sums, &sample);
    if (is_sample && shown)
        add_sample(sums, &sample);
    else if (shown && Event_kind(event) == EVENT_COUNTER)
        add_counter(sums, event);
    else if (shown && Event_kind(event) == EVENT_CHANGE)
        add_change(sums, event);
}

static void add_event(struct StretchSums *sums, const struct Event *event)
{
    enum EventKind kind = Event_kind(event);
    struct Sum *function;

    if (!is_shown(sums, Event_ticks(event)))
        return;
    sums->events++;
    if (kind == EVENT_LOST)
        sums->lost += event->what;
    if (kind != EVENT_ENTER && kind != EVENT_RESUME)
        return;
    function = Event_id(event)
                   ? SumTable_get(&sums->functions, Sum_key(Event_id(event), 0))
                   : NULL;
    if (!function)
        return;
    function->calls += kind == EVENT_ENTER;
    function->resumed += kind == EVENT_RESUME;
    if (Event_ticks(event) > function->what)
        function->what = Event_ticks(event);
    if (kind == EVENT_ENTER)
        ArmedSpans_add(&sums->spans, &sums->reader->dark, Event_id(event),
                       Event_ticks(event));
}

static bool is_beside(const struct StretchSums *sums,
                      const struct TimelineChunk *chunk)
{
    return chunk->thread != TIMELINE_OWN &&
           (chunk->last_ticks < sums->from || chunk->first_ticks >= sums->to);
}

static void add_chunk(struct StretchSums *sums, struct EventBuffer *buffer,
                      struct SampleReader *samples,
                      const struct TimelineChunk *chunk)
{
    const struct Event *events = EventBuffer_read(buffer, chunk);
    size_t i, count = events ? chunk->event_count : 0;

    if (!events) {
        // Without the chunk that cannot be read, the outer frames of the next
        // recorded stack are unknown.
        if (chunk->thread == TIMELINE_OWN)
            *samples = (struct SampleReader){0};
        else
            sums->lost += chunk->event_count;
    }
    for (i = 0; i < count; i++)
        if (chunk->thread == TIMELINE_OWN)
            add_own(sums, samples, &events[i]);
        else
            add_event(sums, &events[i]);
}

static void sort(struct StretchSums *sums)
{
    SumTable_sort(&sums->functions);
    SumTable_sort(&sums->callers);
    SumTable_sort(&sums->threads);
    SumTable_sort(&sums->instructions);
    SumTable_sort(&sums->pairs);
    SumTable_sort(&sums->spans.calls);
    WaitSums_sort(&sums->waits);
}

static void choose(struct StretchSums *sums, double from_s, double to_s)
{
    sums->from_s = fmin(fmax(from_s, sums->all_from_s), sums->all_to_s);
    sums->to_s = fmin(fmax(to_s, sums->from_s), sums->all_to_s);
    sums->from = sums->from_s > sums->all_from_s
                     ? StretchSums_ticks(sums, sums->from_s)
                     : 0;
    sums->to = sums->to_s < sums->all_to_s ? StretchSums_ticks(sums, sums->to_s)
                                           : UINT64_MAX;
}

int StretchSums_read(struct StretchSums *sums, double from_s, double to_s,
                     const struct RecordingWatch *watch)
{
    const struct RecordingReader *reader = sums->reader;
    const struct TimelineView *view = reader->trace.view;
    struct SampleReader *samples = Heap_zeroed(1, sizeof *samples);
    struct EventBuffer buffer = {0};
    int error = samples ? 0 : -ENOMEM;
    size_t i;

    StretchSums_release(sums);
    StretchSums_init(sums, reader);
    choose(sums, from_s, to_s);
    for (i = 0; !error && i < view->chunk_count; i++) {
        if (is_beside(sums, view->chunks[i]))
            continue;
        if (watch->go_on &&
            !watch->go_on(watch->context,
                          (double)i / (double)view->chunk_count))
            error = -ECANCELED;
        else
            add_chunk(sums, &buffer, samples, view->chunks[i]);
    }
    sort(sums);
    EventBuffer_release(&buffer);
    Heap_free(samples);
    return error;
}
