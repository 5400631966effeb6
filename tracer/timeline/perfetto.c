// SPDX-License-Identifier: MIT
// The trace file: every event is a json-c object that is written and dropped
// at once, so that memory stays flat however long the trace is. What repeats,
// names and arguments, is kept as shared objects. No memory for an object
// makes it NULL, and that which was to hold it: one check, when it is written.
#include "tracer/timeline/perfetto.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "ipc/version.h"
#include "tracer/base/output.h"
#include "tracer/base/text.h"
#include "tracer/timeline/ends.h"
#include "tracer/timeline/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KNOWN 4096     // functions kept at hand
#define MAX_NAME 512   // bytes of a function's name
#define MAX_TEXT 4096  // and of other text
#define LOOK_EVERY 256 // events between looks at the clock
#define PROGRESS_NS 50000000u

struct KnownFunction {
    uint32_t id;
    struct json_object *name; // NULL = free
    struct json_object *args; // of its B events
};

struct Writer {
    const struct PerfettoTrace *trace;
    struct Output output;
    uint64_t events;
    uint64_t total; // about so many
    uint64_t looked_ns;
    size_t chunk;            // of the view, the next one to write
    uint64_t last;           // ticks of the newest event in this lane
    struct json_object *pid; // shared by all events
    struct json_object *tid; // and by this lane's
    struct KnownFunction known[KNOWN];
};

// --- Objects ---

// Adds an owned value under a constant key.
static void add(struct json_object **object, const char *key,
                struct json_object *value)
{
    if (*object && value &&
        !json_object_object_add_ex(*object, key, value,
                                   JSON_C_OBJECT_ADD_KEY_IS_NEW |
                                       JSON_C_OBJECT_ADD_CONSTANT_KEY))
        return;
    json_object_put(value);
    json_object_put(*object);
    *object = NULL;
}

static struct json_object *text_up_to(size_t size, const char *value)
{
    char clean[MAX_TEXT];
    size_t length = Text_clean(clean, size, value ? value : "", false);

    return json_object_new_string_len(clean, (int)length);
}

static struct json_object *text(const char *value)
{
    return text_up_to(MAX_TEXT, value);
}

static struct json_object *number(uint64_t value)
{
    return json_object_new_uint64(value);
}

// Microseconds since the start, with the nanoseconds' digits.
static struct json_object *micros(const struct Writer *writer, uint64_t ticks)
{
    const struct PerfettoTrace *trace = writer->trace;
    uint64_t past = ticks > trace->start_ticks ? ticks - trace->start_ticks : 0;
    double hz = trace->hz > 0 ? trace->hz : 1e9;
    uint64_t ns = (uint64_t)((long double)past * 1e9L / hz);
    char digits[32];

    snprintf(digits, sizeof digits, "%" PRIu64 ".%03u", ns / 1000,
             (unsigned)(ns % 1000));
    return json_object_new_double_s((double)ns / 1000, digits);
}

// --- Functions ---

static void forget_function(struct KnownFunction *known)
{
    json_object_put(known->name);
    json_object_put(known->args);
    known->name = known->args = NULL;
}

static struct KnownFunction *find_function(struct Writer *writer, uint32_t id)
{
    const struct PerfettoTrace *trace = writer->trace;
    struct KnownFunction *known = &writer->known[id % KNOWN];
    struct PerfettoName name;
    char address[32];

    if (known->id == id && known->name && known->args)
        return known;
    forget_function(known);
    known->id = id;
    if (!trace->name || !trace->name(trace->context, id, &name))
        name = (struct PerfettoName){"<retired>", "", 0, 0};
    snprintf(address, sizeof address, "0x%" PRIxPTR, name.address);
    known->name = text_up_to(MAX_NAME, name.name);
    known->args = json_object_new_object();
    add(&known->args, "code_ptr", text(address));
    add(&known->args, "file", text(name.file));
    add(&known->args, "line", number(name.line));
    return known;
}

// "what: NAME", of a function.
static struct json_object *label(struct Writer *writer, const char *what,
                                 uint32_t id)
{
    const struct KnownFunction *known = find_function(writer, id);
    char name[MAX_NAME + 32];

    snprintf(name, sizeof name, "%s: %s", what,
             known->name ? json_object_get_string(known->name) : "");
    return text(name);
}

// --- Events ---

// An event with what they all have; owns `name`.
static struct json_object *event_of(const struct Writer *writer,
                                    const char *phase, struct json_object *name)
{
    struct json_object *event = json_object_new_object();

    add(&event, "ph", json_object_new_string(phase));
    add(&event, "pid", json_object_get(writer->pid));
    add(&event, "tid", json_object_get(writer->tid));
    add(&event, "name", name);
    return event;
}

static int write_object(struct Writer *writer, struct json_object *object)
{
    const char *json = NULL;
    size_t size;
    int error;

    if (object)
        json = json_object_to_json_string_length(
            object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
            &size);
    error = json ? Output_write(&writer->output, json, size) : -ENOMEM;
    json_object_put(object);
    return error;
}

// Calls progress about every PROGRESS_NS. 0 or -ECANCELED.
static int report_progress(struct Writer *writer)
{
    const struct PerfettoTrace *trace = writer->trace;
    double done = (double)writer->events / (double)(writer->total + 1);
    uint64_t now = Now_ns(CLOCK_MONOTONIC);

    if (now - writer->looked_ns < PROGRESS_NS)
        return 0;
    writer->looked_ns = now;
    if (trace->progress(trace->context, done < 1 ? done : 1,
                        Output_bytes(&writer->output)))
        return 0;
    return -ECANCELED;
}

static int write_event(struct Writer *writer, struct json_object *event)
{
    const char *separator = writer->events ? ",\n" : "\n";
    int error = Output_write(&writer->output, separator, strlen(separator));

    if (error) {
        json_object_put(event);
        return error;
    }
    error = write_object(writer, event);
    if (!error && writer->events++ % LOOK_EVERY == 0 && writer->trace->progress)
        error = report_progress(writer);
    return error;
}

static int begin_call(void *context, uint64_t ticks, uint32_t id,
                      enum CallBegin how)
{
    static const char *const words[] = {
        [CALL_EARLIER] = "earlier", // than the trace begins
        [CALL_RESUMED] = "resumed",
    };
    struct Writer *writer = context;
    const struct KnownFunction *known = find_function(writer, id);
    struct json_object *event =
        event_of(writer, "B", json_object_get(known->name));
    struct json_object *args = json_object_get(known->args);

    if (how != CALL_ENTERED && args) {
        struct json_object *copy = NULL;

        json_object_deep_copy(args, &copy, NULL);
        json_object_put(args);
        args = copy;
        add(&args, words[how], json_object_new_boolean(1));
    }
    add(&event, "cat", text("python"));
    add(&event, "ts", micros(writer, ticks));
    add(&event, "args", args);
    writer->last = ticks;
    return write_event(writer, event);
}

static int end_call(void *context, uint64_t ticks, uint32_t id,
                    enum CallEnd how)
{
    static const char *const words[] = {
        [CALL_RAISED] = "raised", [CALL_UNWOUND] = "unwound",
        [CALL_LOST] = "lost",     [CALL_OPEN] = "open",
        [CALL_PARKED] = "parked",
    };
    struct Writer *writer = context;
    const struct KnownFunction *known = find_function(writer, id);
    struct json_object *event =
        event_of(writer, "E", json_object_get(known->name));

    add(&event, "ts", micros(writer, ticks));
    if (how != CALL_LEFT) {
        struct json_object *args = json_object_new_object();

        add(&args, words[how], json_object_new_boolean(1));
        add(&event, "args", args);
    }
    writer->last = ticks;
    return write_event(writer, event);
}

static int write_mark(struct Writer *writer, uint64_t ticks,
                      const char *category, struct json_object *name,
                      struct json_object *args)
{
    struct json_object *event = event_of(writer, "i", name);

    add(&event, "cat", text(category));
    add(&event, "ts", micros(writer, ticks));
    add(&event, "s", text("t"));
    add(&event, "args", args);
    writer->last = ticks;
    return write_event(writer, event);
}

static int write_gap(struct Writer *writer, uint64_t ticks, const char *what,
                     uint64_t count)
{
    struct json_object *args = json_object_new_object();
    char name[64];

    snprintf(name, sizeof name, "%s: %" PRIu64 " events", what, count);
    add(&args, "events", number(count));
    return write_mark(writer, ticks, "ocular", text(name), args);
}

static int mark(void *context, uint64_t ticks, const struct Event *event,
                uint32_t inside)
{
    struct Writer *writer = context;
    struct json_object *args;
    char what[32];

    if (Event_kind(event) == EVENT_LOST)
        return write_gap(writer, ticks, "lost", event->what);
    args = json_object_new_object();
    if (Event_kind(event) == EVENT_DARK) {
        add(&args, "note", text("from here on its calls are not recorded"));
        return write_mark(writer, ticks, "ocular",
                          label(writer, "dark", Event_id(event)), args);
    }
    add(&args, "uOps", number(Event_instructions(event)));
    add(&args, "Hardware Cycles", number(Event_cycles(event)));
    add(&args, "offset", number(2 * Event_unit(event)));
    snprintf(what, sizeof what, "loop @%u", 2 * Event_unit(event));
    return write_mark(writer, ticks, "loop", label(writer, what, inside), args);
}

// --- The document ---

static int write_head(struct Writer *writer)
{
    static const char before[] = "{\"displayTimeUnit\":\"ns\",\"otherData\":";
    static const char after[] = ",\"traceEvents\":[";
    const struct PerfettoTrace *trace = writer->trace;
    const struct TimelineView *view = trace->view;
    bool whole = view->whole_ticks <= view->first_ticks;
    struct json_object *other = json_object_new_object();
    time_t start = (time_t)(trace->start_unix_ns / 1000000000u);
    char date[40] = "";
    struct tm utc;
    int error;

    if (gmtime_r(&start, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    add(&other, "tool", text("ocular"));
    add(&other, "version", text(OCULAR_VERSION));
    add(&other, "python", text(trace->python));
    add(&other, "command", text(trace->command));
    add(&other, "mode", text(trace->mode));
    add(&other, "threshold", number(trace->threshold));
    add(&other, "start_time", text(date));
    add(&other, "start_unix_ns", number(trace->start_unix_ns));
    add(&other, "tsc_hz", json_object_new_double(trace->hz));
    add(&other, "lost_events", number(view->lost));
    add(&other, "forgotten_events", number(view->forgotten));
    add(&other, "covered_from_us", micros(writer, view->first_ticks));
    add(&other, "covered_to_us", micros(writer, view->last_ticks));
    add(&other, "all_threads_from_us",
        micros(writer, whole ? view->first_ticks : view->whole_ticks));
    error = Output_write(&writer->output, before, sizeof before - 1);
    if (error) {
        json_object_put(other);
        return error;
    }
    error = write_object(writer, other);
    return error ? error
                 : Output_write(&writer->output, after, sizeof after - 1);
}

// An M event: `name` says what `key` is the value of.
static int write_meta(struct Writer *writer, const char *name, const char *key,
                      struct json_object *value)
{
    struct json_object *event = event_of(writer, "M", text(name));
    struct json_object *args = json_object_new_object();

    add(&args, key, value);
    add(&event, "args", args);
    return write_event(writer, event);
}

static int name_lane(struct Writer *writer, const struct TimelineLane *lane)
{
    int error = write_meta(writer, "thread_name", "name", text(lane->name));

    if (error)
        return error;
    return write_meta(writer, "thread_sort_index", "sort_index",
                      number(lane->lane));
}

// The lane's chunks, which come next in the view.
static size_t take_chunks(struct Writer *writer, unsigned lane)
{
    const struct TimelineView *view = writer->trace->view;
    size_t from = writer->chunk;

    while (writer->chunk < view->chunk_count &&
           view->chunks[writer->chunk]->lane == lane)
        writer->chunk++;
    return writer->chunk - from;
}

static int write_lane(struct Writer *writer, const struct TimelineLane *lane,
                      struct Ends *ends)
{
    const struct ReplayTarget target = {writer, begin_call, end_call, mark};
    const struct TimelineView *view = writer->trace->view;
    size_t from = writer->chunk, count = take_chunks(writer, lane->lane);
    uint64_t floor = writer->trace->start_ticks;
    uint64_t *end = Ends_of(ends, lane->tid);
    int error;

    // A thread that nothing has been recorded of, yet or any more.
    if (!count && !lane->forgotten && !lane->lost)
        return 0;
    if (*end > floor)
        floor = *end;
    writer->last = floor;
    json_object_put(writer->tid);
    writer->tid = json_object_new_int64(lane->tid);
    error = name_lane(writer, lane);
    if (!error && lane->forgotten) {
        uint64_t at = view->first_ticks > floor ? view->first_ticks : floor;

        error = write_gap(writer, at, "forgotten", lane->forgotten);
    }
    if (!error)
        error = Replay_lane(view, view->chunks + from, count, floor, &target);
    *end = writer->last;
    return error;
}

static int write_lanes(struct Writer *writer)
{
    const struct TimelineView *view = writer->trace->view;
    struct Ends ends;
    int error = Ends_init(&ends, view->lane_count);
    size_t i;

    for (i = 0; !error && i < view->lane_count; i++)
        error = write_lane(writer, &view->lanes[i], &ends);
    Ends_release(&ends);
    return error;
}

static int write_document(struct Writer *writer)
{
    const struct PerfettoTrace *trace = writer->trace;
    const struct TimelineView *view = trace->view;
    int error = write_head(writer);
    size_t i;

    for (i = 0; i < view->chunk_count; i++)
        writer->total += view->chunks[i]->event_count;
    writer->tid = json_object_new_int64(trace->pid);
    if (!error)
        error = write_meta(writer, "process_name", "name",
                           text(trace->command ? trace->command : "python"));
    if (!error)
        error = write_lanes(writer);
    return error ? error : Output_write(&writer->output, "\n]}\n", 4);
}

int Perfetto_write(const struct PerfettoTrace *trace, const char *path,
                   struct PerfettoResult *result)
{
    struct Writer *writer = Heap_zeroed(1, sizeof *writer);
    int error;
    size_t i;

    if (!writer)
        return -ENOMEM;
    error = trace->descriptor
                ? Output_borrow(&writer->output, trace->descriptor,
                                trace->opened, path)
                : Output_open(&writer->output, path);
    if (error) {
        Heap_free(writer);
        return error;
    }
    writer->trace = trace;
    writer->pid = json_object_new_int64(trace->pid);
    error = write_document(writer);
    if (error)
        Output_abort(&writer->output);
    else
        error =
            Output_commit(&writer->output, trace->overwrite, &result->bytes);
    result->events = writer->events;
    for (i = 0; i < KNOWN; i++)
        forget_function(&writer->known[i]);
    json_object_put(writer->pid);
    json_object_put(writer->tid);
    Heap_free(writer);
    return error;
}
