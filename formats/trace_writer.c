// SPDX-License-Identifier: MIT
// Implements the buffer, the conversion of times, the names, and the facts
// about the run (see trace_writer.h).
#include "formats/trace_writer.h"
#include "ipc/base/now.h"
#include "ipc/snapshot.h"
#include "ipc/version.h"
#include "tracer/base/harmless.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SCALE_BITS 62 // A number of 60 bits times the scale fits into 128 bits.

const char *Trace_slice_word(enum TraceSliceKind kind)
{
    static const char *const words[SLICE_KINDS] = {"dark", "wait", "stall"};

    return words[kind];
}

const char *Trace_begin_word(enum CallBegin how)
{
    static const char *const words[] = {
        [CALL_EARLIER] = "earlier", // The call began before tracing began.
        [CALL_RESUMED] = "resumed",
    };

    return words[how];
}

const char *Trace_end_word(enum CallEnd how)
{
    static const char *const words[] = {
        [CALL_RAISED] = "raised", [CALL_UNWOUND] = "unwound",
        [CALL_LOST] = "lost",     [CALL_OPEN] = "open",
        [CALL_PARKED] = "parked",
    };

    return words[how];
}

const char *Trace_instant_word(enum EventKind kind)
{
    return kind == EVENT_DARK ? "dark" : "waited";
}

const char *Trace_instant_note(enum EventKind kind)
{
    return kind == EVENT_DARK ? "from here on its calls are not recorded"
                              : "other threads ran in the time from here on";
}

void TraceWriter_init(struct TraceWriter *writer,
                      const struct PerfettoTrace *trace)
{
    double hz = trace->hz >= 1 ? trace->hz : 1e9;
    time_t start = (time_t)(trace->start_unix_ns / 1000000000u);
    struct tm utc;
    int exponent; // The ns of one tick are less than 2^exponent.

    frexp(1e9 / hz, &exponent);
    if (exponent < 0)
        exponent = 0;
    // The scale is exact if hz is 1e9 divided by a power of two. If the scale
    // is not exact, it is rounded up, so that a whole number of ns stays whole.
    writer->shift = (unsigned)(SCALE_BITS - exponent);
    writer->scale = (uint64_t)ceill(ldexpl(1e9L / hz, SCALE_BITS - exponent));
    writer->trace = trace;
    writer->later_ns = 0;
    writer->chunk = 0;
    if (gmtime_r(&start, &utc))
        strftime(writer->date, sizeof writer->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

// --- The buffer ------------------------------------------------------------

int TraceWriter_flush(struct TraceWriter *writer)
{
    if (!writer->error)
        writer->error =
            Output_write(&writer->output, writer->buffer, writer->used);
    writer->used = 0;
    return writer->error;
}

int TraceWriter_put(struct TraceWriter *writer, const void *data, size_t size)
{
    const uint8_t *from = data;

    while (size > 0) {
        size_t part = size < TRACE_BUFFER ? size : TRACE_BUFFER;
        uint8_t *at = TraceWriter_room(writer, part);

        if (!at)
            return writer->error;
        memcpy(at, from, part);
        TraceWriter_took(writer, at + part);
        from += part;
        size -= part;
    }
    return 0;
}

int TraceWriter_look(struct TraceWriter *writer)
{
    const struct PerfettoTrace *trace = writer->trace;
    double done = (double)writer->events / (double)(writer->total + 1);
    uint64_t now;

    if (!trace->progress)
        return 0;
    now = Now_ns(CLOCK_MONOTONIC);
    if (now - writer->looked_ns < TRACE_LOOK_NS)
        return 0;
    writer->looked_ns = now;
    if (trace->progress(trace->watcher, done < 1 ? done : 1,
                        Output_bytes(&writer->output)))
        return 0;
    return -ECANCELED;
}

// --- Words for beginnings and ends of calls --------------------------------

void TraceWriter_name(const struct TraceWriter *writer, uint32_t id,
                      struct TraceName *out)
{
    const struct PerfettoTrace *trace = writer->trace;
    struct PerfettoName name;

    if (!trace->name(trace->context, id, &name))
        name = (struct PerfettoName){"<retired>", "", 0, 0};
    Harmless_clean(out->name, sizeof out->name, name.name, false);
    Harmless_clean(out->file, sizeof out->file, name.file, false);
    out->line = name.line;
    out->address = name.address;
}

const struct TimelineThread *
TraceWriter_thread(const struct TraceWriter *writer, uint64_t tid)
{
    const struct TimelineView *view = writer->trace->view;
    size_t i = view->thread_count;

    while (i--)
        if (writer->written[i] && (uint64_t)view->threads[i].tid == tid &&
            view->threads[i].number != TIMELINE_OWN)
            return &view->threads[i];
    return NULL;
}

void TraceWriter_step(const struct TraceWriter *writer, uint64_t what,
                      char label[TRACE_STEP])
{
    snprintf(label, TRACE_STEP, "%s @%u",
             Opcodes_text(writer->trace->opcodes, (uint8_t)(what >> 48)),
             2 * (unsigned)(what >> 32 & 0xffff));
}

void TraceWriter_frame(const struct TraceWriter *writer, uint32_t id,
                       char label[TRACE_FRAME])
{
    struct TraceName name;

    if (id) {
        TraceWriter_name(writer, id, &name);
        snprintf(label, TRACE_FRAME, "%s (%s:%u)", name.name, name.file,
                 (unsigned)name.line);
    } else {
        snprintf(label, TRACE_FRAME, "(deeper stacks)");
    }
}

static struct TraceFact say(const char *key, const char *text)
{
    return (struct TraceFact){key, FACT_TEXT, text ? text : "", 0, 0};
}

static struct TraceFact count(const char *key, uint64_t number)
{
    return (struct TraceFact){key, FACT_NUMBER, NULL, number, 0};
}

static struct TraceFact when(const struct TraceWriter *writer, const char *key,
                             uint64_t ticks)
{
    uint64_t ns = TraceWriter_ns(writer, ticks);

    return (struct TraceFact){key, FACT_NS, NULL, ns, (double)(ns / 1000.0L)};
}

// Writes the rules of a filter with commas between them. Rules for which there
// is no room are left out.
static void join(char out[TRACE_RULES], const struct FilterRule *rules,
                 size_t count)
{
    size_t i, used = 0;

    *out = '\0';
    for (i = 0; i < count && used < TRACE_RULES; i++)
        if (rules[i].text)
            used += (size_t)snprintf(out + used, TRACE_RULES - used, "%s%s",
                                     used ? ", " : "", rules[i].text);
}

// Adds the settings of the trace to the facts, as far as the recording contains
// them.
static void add_settings(struct TraceFacts *facts,
                         const struct Snapshot *settings)
{
    join(facts->exclude, settings->filter_exclude,
         settings->filter_exclude_count);
    join(facts->include_only, settings->filter_include_only,
         settings->filter_include_only_count);
    if (settings->overhead_budget > 0)
        facts->list[facts->count++] = (struct TraceFact){
            "overhead_budget", FACT_REAL, NULL, 0, settings->overhead_budget};
    if (*facts->exclude)
        facts->list[facts->count++] = say("exclude", facts->exclude);
    if (*facts->include_only)
        facts->list[facts->count++] = say("include_only", facts->include_only);
}

void TraceWriter_facts(const struct TraceWriter *writer,
                       struct TraceFacts *facts)
{
    const struct PerfettoTrace *trace = writer->trace;
    const struct TimelineView *view = trace->view;
    bool whole = view->whole_ticks <= view->first_ticks;
    const struct Snapshot *settings = trace->settings;
    const struct TraceFact all[] = {
        say("tool", "ocular"),
        say("version",
            settings && settings->version ? settings->version : OCULAR_VERSION),
        say("python", trace->python),
        say("command", trace->command),
        say("mode", trace->mode),
        count("threshold", trace->threshold),
        say("start_time", writer->date),
        count("start_unix_ns", trace->start_unix_ns),
        {"tsc_hz", FACT_REAL, NULL, 0, trace->hz},
        count("lost_events", view->lost),
        count("forgotten_events", view->forgotten),
        when(writer, "covered_from_us", view->first_ticks),
        when(writer, "covered_to_us", view->last_ticks),
        when(writer, "all_threads_from_us",
             whole ? view->first_ticks : view->whole_ticks),
    };

    memcpy(facts->list, all, sizeof all);
    facts->count = sizeof all / sizeof *all;
    if (settings)
        add_settings(facts, settings);
}
