// SPDX-License-Identifier: MIT
// Writes a trace as JSON. The events of a function are equal except for their
// times, and so are the events of a loop or of a thread. The equal part of the
// events is made once, by json-c. For each event the equal part is copied, and
// the digits of the time are added.
#include "formats/json_trace.h"
#include "formats/json_event.h"
#include "formats/json_own_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// --- Digits ------------------------------------------------------------------
// An event consists of constant texts and of digits. The functions for the
// parts of an event return the address behind the last byte that they have
// written.

#define DIGITS 24 // Largest number of bytes of a time as text.

static uint8_t *Digits_copy(uint8_t *at, const void *data, size_t size)
{
    memcpy(at, data, size);
    return at + size;
}

static uint8_t *Digits_put(uint8_t *at, uint64_t value)
{
    uint8_t digits[DIGITS], *first = digits + sizeof digits;

    do {
        *--first = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value);
    return Digits_copy(at, first, (size_t)(digits + sizeof digits - first));
}

// Writes a time of `ns` nanoseconds as microseconds with three decimals.
static uint8_t *Digits_put_micros(uint8_t *at, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);

    at = Digits_put(at, ns / 1000);
    *at++ = '.';
    *at++ = (uint8_t)('0' + rest / 100);
    *at++ = (uint8_t)('0' + rest / 10 % 10);
    *at++ = (uint8_t)('0' + rest % 10);
    return at;
}

// --- Events: pieces that exist already, and digits ---------------------------

// Writes the beginning of an event, which is a prefix, the name in the entry,
// `key` and the event's time.
static uint8_t *put_head(struct JsonWriter *json, const struct Prefix *prefix,
                         const struct EncodedEntry *entry, const char *key,
                         uint64_t ticks)
{
    size_t key_size = strlen(key);
    uint8_t *at;

    if (!entry) {
        json->base.error = -ENOMEM;
        return NULL;
    }
    at = TraceWriter_room(&json->base, prefix->size + entry->first +
                                           entry->second + key_size +
                                           10 * DIGITS);
    if (!at)
        return NULL;
    json->base.last = ticks;
    at = Digits_copy(at, prefix->text, prefix->size);
    at = Digits_copy(at, Encoded_first(&json->base.encoded, entry),
                     entry->first);
    at = Digits_copy(at, key, key_size);
    return Digits_put_micros(at, TraceWriter_ns(&json->base, ticks));
}

#define PUT(at, constant) Digits_copy(at, constant, sizeof(constant) - 1)

// Writes `"WORD":true`.
static uint8_t *put_word(uint8_t *at, const char *word)
{
    at = PUT(at, "\"");
    at = Digits_copy(at, word, strlen(word));
    return PUT(at, "\":true");
}

static int finish_event(struct JsonWriter *json, uint8_t *at)
{
    TraceWriter_took(&json->base, at);
    return TraceWriter_count(&json->base);
}

// --- Bytes that are encoded once ---------------------------------------------

// Adds an entry to the table of encoded bytes. The two byte strings of the
// entry are the name as JSON and `second`. encode takes ownership of the name.
// Returns NULL if memory is out.
static const struct EncodedEntry *encode(struct JsonWriter *json, uint64_t key,
                                         struct json_object *name,
                                         struct EncodedPiece second)
{
    struct EncodedPiece first = JsonEvent_print(name);
    const struct EncodedEntry *entry = NULL;

    if (first.data && second.data)
        entry = Encoded_add(&json->base.encoded, key, first, second);
    json_object_put(name);
    return entry;
}

// Adds an entry to the table of encoded bytes for the events of a function. The
// two byte strings of the entry are the function's name, and the function's
// arguments without the closing brace.
static const struct EncodedEntry *encode_function(struct JsonWriter *json,
                                                  uint32_t id)
{
    struct json_object *args = json_object_new_object();
    const struct EncodedEntry *entry;
    struct EncodedPiece piece;
    struct TraceName name;
    char address[32];

    TraceWriter_name(&json->base, id, &name);
    snprintf(address, sizeof address, "0x%" PRIxPTR, name.address);
    JsonTree_add(&args, "code_ptr", JsonTree_text(address));
    JsonTree_add(&args, "file", JsonTree_text(name.file));
    JsonTree_add(&args, "line", json_object_new_uint64(name.line));
    piece = JsonEvent_print(args);
    if (piece.data)
        piece.size--;
    entry = encode(json, Trace_key(KEY_FUNCTION, id, 0),
                   JsonTree_text(name.name), piece);
    json_object_put(args);
    return entry;
}

static const struct EncodedEntry *find_function(struct JsonWriter *json,
                                                uint32_t id)
{
    const struct EncodedEntry *entry =
        Encoded_find(&json->base.encoded, Trace_key(KEY_FUNCTION, id, 0));

    return entry ? entry : encode_function(json, id);
}

// Adds an entry to the table of encoded bytes. The two byte strings of the
// entry are a label "what: NAME", in which NAME is a function's name, and
// `second`.
static const struct EncodedEntry *encode_label(struct JsonWriter *json,
                                               uint64_t key, const char *what,
                                               const char *second)
{
    char label[TRACE_NAME + 32];
    struct TraceName name;

    TraceWriter_name(&json->base, (uint32_t)key, &name);
    snprintf(label, sizeof label, "%s: %s", what, name.name);
    return encode(json, key, JsonTree_text(label),
                  (struct EncodedPiece){second, strlen(second)});
}

static const struct EncodedEntry *find_loop(struct JsonWriter *json,
                                            uint32_t id, unsigned unit)
{
    uint64_t key = Trace_key(KEY_LOOP, id, unit);
    const struct EncodedEntry *entry = Encoded_find(&json->base.encoded, key);
    char what[32], offset[48];

    if (entry)
        return entry;
    snprintf(what, sizeof what, "loop @%u", 2 * unit);
    snprintf(offset, sizeof offset, ",\"offset\":%u}}", 2 * unit);
    return encode_label(json, key, what, offset);
}

static const struct EncodedEntry *find_instant(struct JsonWriter *json,
                                               uint32_t id, enum EventKind kind)
{
    uint64_t key = Trace_key(KEY_INSTANT, id, kind);
    const struct EncodedEntry *entry = Encoded_find(&json->base.encoded, key);
    char args[160];

    if (entry)
        return entry;
    snprintf(args, sizeof args, ",\"s\":\"t\",\"args\":{\"note\":\"%s\"",
             Trace_instant_note(kind));
    return encode_label(json, key, Trace_instant_word(kind), args);
}

// --- Table of the format -----------------------------------------------------

static int begin_call(struct TraceWriter *writer, uint64_t ticks, uint32_t id,
                      enum CallBegin how)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    const struct EncodedEntry *entry = find_function(json, id);
    uint8_t *at = put_head(json, &json->begin, entry,
                           ",\"cat\":\"python\",\"ts\":", ticks);

    if (!at)
        return json->base.error;
    at = PUT(at, ",\"args\":");
    at = Digits_copy(at, Encoded_second(&json->base.encoded, entry),
                     entry->second);
    if (how != CALL_ENTERED) {
        at = PUT(at, ",");
        at = put_word(at, Trace_begin_word(how));
    }
    return finish_event(json, PUT(at, "}}"));
}

static int end_call(struct TraceWriter *writer, uint64_t ticks, uint32_t id,
                    enum CallEnd how)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    const struct EncodedEntry *entry = find_function(json, id);
    uint8_t *at = put_head(json, &json->end, entry, ",\"ts\":", ticks);

    if (!at)
        return json->base.error;
    if (how != CALL_LEFT) {
        at = PUT(at, ",\"args\":{");
        at = put_word(at, Trace_end_word(how));
        at = PUT(at, "}");
    }
    return finish_event(json, PUT(at, "}"));
}

static const struct EncodedEntry *find_step(struct JsonWriter *json,
                                            uint32_t id, uint64_t what)
{
    uint64_t key = Trace_key(KEY_STEP, id, (unsigned)(what >> 32 & 0xffff));
    const struct EncodedEntry *entry = Encoded_find(&json->base.encoded, key);
    char label[TRACE_STEP], line[48];

    if (entry)
        return entry;
    TraceWriter_step(&json->base, what, label);
    snprintf(line, sizeof line, ",\"args\":{\"line\":%" PRIu32 "}}",
             (uint32_t)what);
    return encode(json, key, JsonTree_text(label),
                  (struct EncodedPiece){line, strlen(line)});
}

static int write_step(struct TraceWriter *writer, uint64_t ticks,
                      uint32_t inside, uint64_t what, bool begins)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    const struct EncodedEntry *entry = find_step(json, inside, what);
    uint8_t *at = begins ? put_head(json, &json->begin, entry,
                                    ",\"cat\":\"instruction\",\"ts\":", ticks)
                         : put_head(json, &json->end, entry, ",\"ts\":", ticks);

    if (!at)
        return writer->error;
    if (!begins)
        return finish_event(json, PUT(at, "}"));
    at =
        Digits_copy(at, Encoded_second(&writer->encoded, entry), entry->second);
    return finish_event(json, at);
}

static int write_loop(struct TraceWriter *writer, uint64_t ticks,
                      const struct Event *event, uint32_t inside)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    const struct EncodedEntry *entry =
        find_loop(json, inside, Event_unit(event));
    uint8_t *at =
        put_head(json, &json->mark, entry, ",\"cat\":\"loop\",\"ts\":", ticks);

    if (!at)
        return json->base.error;
    at = PUT(at, ",\"s\":\"t\",\"args\":{\"uOps\":");
    at = Digits_put(at, Event_instructions(event));
    at = PUT(at, ",\"Hardware Cycles\":");
    at = Digits_put(at, Event_cycles(event));
    at =
        Digits_copy(at, Encoded_second(&writer->encoded, entry), entry->second);
    return finish_event(json, at);
}

static int write_instant(struct TraceWriter *writer, uint64_t ticks,
                         const struct Event *event, uint32_t id)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    enum EventKind kind = Event_kind(event);
    const struct EncodedEntry *entry = find_instant(json, id, kind);
    uint8_t *at = put_head(json, &json->mark, entry,
                           ",\"cat\":\"ocular\",\"ts\":", ticks);

    if (!at)
        return json->base.error;
    at =
        Digits_copy(at, Encoded_second(&writer->encoded, entry), entry->second);
    if (kind == EVENT_WAIT) {
        at = PUT(at, ",\"ns\":");
        at = Digits_put(at, TraceWriter_span_ns(writer, event->what));
    }
    return finish_event(json, PUT(at, "}}"));
}

static int write_gap(struct TraceWriter *writer, uint64_t ticks,
                     const char *what, uint64_t count)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    struct json_object *args = json_object_new_object(), *event;
    char name[64];

    snprintf(name, sizeof name, "%s: %" PRIu64 " events", what, count);
    event = JsonEvent_new(json, "i", name);
    JsonTree_add(&args, "events", json_object_new_uint64(count));
    JsonTree_add(&event, "cat", JsonTree_text("ocular"));
    JsonTree_add(&event, "ts", JsonEvent_micros(TraceWriter_ns(writer, ticks)));
    JsonTree_add(&event, "s", JsonTree_text("t"));
    JsonTree_add(&event, "args", args);
    writer->last = ticks;
    return JsonEvent_put(json, event);
}

// Writes a metadata event (phase M). The value becomes the member `key` of the
// event's arguments.
static int put_meta(struct JsonWriter *json, const char *name, const char *key,
                    struct json_object *value)
{
    struct json_object *event = JsonEvent_new(json, "M", name);
    struct json_object *args = json_object_new_object();

    JsonTree_add(&args, key, value);
    JsonTree_add(&event, "args", args);
    return JsonEvent_put(json, event);
}

static struct json_object *value_of(const struct TraceFact *fact)
{
    if (fact->kind == FACT_TEXT)
        return JsonTree_text(fact->text);
    if (fact->kind == FACT_NUMBER)
        return json_object_new_uint64(fact->number);
    return fact->kind == FACT_NS ? JsonEvent_micros(fact->number)
                                 : json_object_new_double(fact->real);
}

static struct json_object *facts_of(const struct TraceWriter *writer)
{
    struct json_object *object = json_object_new_object();
    struct TraceFacts facts;
    size_t i;

    TraceWriter_facts(writer, &facts);
    for (i = 0; i < facts.count; i++)
        JsonTree_add(&object, facts.list[i].key, value_of(&facts.list[i]));
    return object;
}

// Returns the start of that trace of the file which starts first.
static uint64_t start_of(const struct TraceWriter *writer)
{
    const struct PerfettoTrace *trace;
    uint64_t start = UINT64_MAX;

    for (trace = writer->first; trace; trace = trace->next)
        if (trace->start_unix_ns < start)
            start = trace->start_unix_ns;
    return start;
}

static void replace(struct json_object **object, const char *key,
                    struct json_object *value)
{
    if (*object)
        json_object_object_del(*object, key);
    JsonTree_add(object, key, value);
}

// The length of the time that several traces cover together, in ns.
struct Covered {
    uint64_t from, to, all_from;
};

static void cover(struct Covered *covered, const struct TraceWriter *writer)
{
    const struct TimelineView *view = writer->trace->view;
    uint64_t later = writer->trace->start_unix_ns - start_of(writer);
    uint64_t from = later + TraceWriter_ns(writer, view->first_ticks);
    uint64_t to = later + TraceWriter_ns(writer, view->last_ticks);
    uint64_t whole = later + TraceWriter_ns(writer, view->whole_ticks);

    whole = whole > from ? whole : from;
    covered->from = from < covered->from ? from : covered->from;
    covered->to = to > covered->to ? to : covered->to;
    covered->all_from = whole > covered->all_from ? whole : covered->all_from;
}

// Makes the facts about a file with several traces. The facts are those of the
// first trace, the start and the covered time of all traces, the sums of lost
// events, and a list with the facts of each trace.
static struct json_object *merged_facts(struct TraceWriter *writer)
{
    struct json_object *other = facts_of(writer), *facts;
    struct json_object *merged = json_object_new_array();
    const struct PerfettoTrace *trace;
    struct Covered covered = {.from = UINT64_MAX};
    uint64_t lost = 0, forgotten = 0;

    for (trace = writer->first; trace; trace = trace->next) {
        TraceWriter_init(writer, trace);
        facts = facts_of(writer);
        JsonTree_add(&facts, "file", JsonTree_text(trace->file));
        JsonTree_append(&merged, facts);
        if (trace->start_unix_ns == start_of(writer))
            replace(&other, "start_time", JsonTree_text(writer->date));
        if (trace->view->first_ticks)
            cover(&covered, writer);
        lost += trace->view->lost;
        forgotten += trace->view->forgotten;
    }
    TraceWriter_init(writer, writer->first);
    replace(&other, "start_unix_ns", json_object_new_uint64(start_of(writer)));
    replace(&other, "lost_events", json_object_new_uint64(lost));
    replace(&other, "forgotten_events", json_object_new_uint64(forgotten));
    if (covered.to) {
        replace(&other, "covered_from_us", JsonEvent_micros(covered.from));
        replace(&other, "covered_to_us", JsonEvent_micros(covered.to));
        replace(&other, "all_threads_from_us",
                JsonEvent_micros(covered.all_from));
    }
    JsonTree_add(&other, "merged", merged);
    return other;
}

static int begin_document(struct JsonWriter *json)
{
    struct TraceWriter *writer = &json->base;
    struct json_object *other =
        writer->first->next ? merged_facts(writer) : facts_of(writer);
    int error = -ENOMEM;

    if (other)
        error = JsonWriter_put(
            json, "{\"displayTimeUnit\":\"ns\",\"otherData\":", other);
    return error ? error : JsonWriter_put(json, ",\"traceEvents\":[", NULL);
}

static int write_head(struct TraceWriter *writer)
{
    const struct PerfettoTrace *trace = writer->trace;
    struct JsonWriter *json = (struct JsonWriter *)writer;
    int error = trace == writer->first ? begin_document(json) : 0;

    writer->later_ns = trace->start_unix_ns - start_of(writer);
    // The next trace is of another process, which has other numbers for its
    // functions.
    Encoded_clear(&writer->encoded);
    json->nodes = json->sample_us = 0;
    json->tid = trace->pid;
    if (error)
        return error;
    return put_meta(json, "process_name", "name",
                    JsonTree_text(trace->command ? trace->command : "python"));
}

static void make_prefix(const struct JsonWriter *json, struct Prefix *prefix,
                        char phase)
{
    prefix->size = (size_t)snprintf(
        prefix->text, sizeof prefix->text,
        ",\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d,\"name\":", phase,
        (int)json->base.trace->pid, (int)json->tid);
}

static int write_thread(struct TraceWriter *writer,
                        const struct TimelineThread *thread)
{
    struct JsonWriter *json = (struct JsonWriter *)writer;
    int error;

    json->tid = thread->tid;
    make_prefix(json, &json->begin, 'B');
    make_prefix(json, &json->end, 'E');
    make_prefix(json, &json->mark, 'i');
    error = put_meta(json, "thread_name", "name", JsonTree_text(thread->name));
    return error ? error
                 : put_meta(json, "thread_sort_index", "sort_index",
                            json_object_new_uint64(thread->number));
}

static int write_tail(struct TraceWriter *writer)
{
    return JsonWriter_put((struct JsonWriter *)writer, "\n]}\n", NULL);
}

const struct TraceFormat JsonTrace_format = {
    .writer_bytes = sizeof(struct JsonWriter),
    .head = write_head,
    .thread = write_thread,
    .begin = begin_call,
    .end = end_call,
    .step = write_step,
    .task = JsonOwnEvent_task,
    .loop = write_loop,
    .instant = write_instant,
    .gap = write_gap,
    .said = JsonOwnEvent_said,
    .counter = JsonOwnEvent_counter,
    .change = JsonOwnEvent_change,
    .slice = JsonOwnEvent_slice,
    .own = JsonOwnEvent_own,
    .sample = JsonOwnEvent_sample,
    .tail = write_tail,
};
