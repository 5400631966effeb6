// SPDX-License-Identifier: MIT
// Contains the functions that all writers of a timeline share. The shared
// functions are for the file and its buffer, and for times, names and progress.
// A format (json_trace.c, pftrace.c) encodes calls and marks as bytes.
// perfetto.c goes through the timeline and calls the functions of the format. A
// struct TraceWriter may be used by one thread only.
#pragma once

#include "formats/encoded.h"
#include "formats/output.h"
#include "formats/replay.h"
#include "tracer/timeline/own_event.h"
#include "tracer/timeline/sample_track.h"
#include "tracer/timeline/trace.h"

// Size of the buffer in bytes, which is larger than any event.
#define TRACE_BUFFER (128u << 10)
// Largest number of bytes of a function's name, with its NUL.
#define TRACE_NAME 512
#define TRACE_TEXT 4096 // Largest number of bytes of any other text.
// Largest number of bytes of the label of a frame.
#define TRACE_FRAME (TRACE_NAME + TRACE_TEXT + 32)
#define TRACE_STEP 96
// The clock is read once for TRACE_LOOK_EVERY events.
#define TRACE_LOOK_EVERY 256
// Shortest time in ns between two reports of progress.
#define TRACE_LOOK_NS 50000000u
#define TRACE_FACTS 17 // Largest number of facts about a run.
// Largest number of bytes of a filter's rules, with the NUL.
#define TRACE_RULES 4096

struct TraceWriter {
    const struct TraceFormat *format;
    const struct PerfettoTrace *trace; // The trace that is being written now.
    const struct PerfettoTrace *first; // The first trace of the file.
    // written[i] is true if the thread with the index i in the trace's view is
    // in the file.
    bool *written;
    struct Output output;
    // Bytes that are made once for each function or loop.
    struct Encoded encoded;
    uint64_t events;    // Number of events written so far.
    uint64_t total;     // Approximate number of all events in the file.
    uint64_t looked_ns; // ns of the clock at the last report of progress.
    uint64_t scale;     // ns of one tick, multiplied by 2^shift.
    unsigned shift;
    // ns from the beginning of the file to the start of this trace. later_ns is
    // 0 unless the format has set it.
    uint64_t later_ns;
    uint64_t last; // Ticks at the newest event of the present thread.
    size_t depth;  // Number of open calls of the present thread.
    // Number of events that were left out since a gap was last written.
    uint64_t left_out;
    size_t chunk;  // Index of the view's next chunk to write.
    int error;     // -errno of a write that failed, or 0.
    char date[40]; // Date and time of the start of tracing, as text.
    size_t used;   // Number of bytes in the buffer that are not written yet.
    uint8_t buffer[TRACE_BUFFER];
};

struct TraceCounter {
    enum OwnEventCounter which;
    // The thread of a counter OWN_EVENT_CPU, or NULL for other counters.
    const struct TimelineThread *thread;
    const char *name;
    const char *unit;
    double value;
};

struct TraceChange {
    char name[2 * 64 + 8]; // Text "A -> B", in which A and B are opcodes.
    uint32_t id;           // Id of the function.
    uint32_t line;         // Number of the source line, or 0 if there is none.
};

enum TraceSliceKind {
    SLICE_DARK,  // A function was dark.
    SLICE_WAIT,  // Observations have found a thread waiting.
    SLICE_STALL, // A step of an event loop took long.
    SLICE_KINDS
};

struct TraceNote {
    const char *key;
    const char *text; // NULL if the note is a number.
    uint64_t number;
};

#define TRACE_NOTES 4
// No time in a trace is later than TRACE_LONGEST_S seconds after its start.
#define TRACE_LONGEST_S 1e9

// A slice is a stretch of time. The track of a slice belongs to the process or
// to a thread. Slices of one track do not overlap.
struct TraceSlice {
    enum TraceSliceKind kind;
    // The id of the function or the number of the thread that the track is for.
    uint32_t number;
    // NULL if the track belongs to the process.
    const struct TimelineThread *thread;
    const char *name;
    uint64_t begin_ns, end_ns; // ns since the start of tracing.
    // The list of notes ends before the first note without a key.
    struct TraceNote notes[TRACE_NOTES];
    // A word that describes how the slice begins or ends, or NULL
    // (Trace_begin_word).
    const char *begin_word, *end_word;
};

// A format of trace files, which is a table of functions. Their argument
// `writer` is a struct of writer_bytes that begins with a struct TraceWriter.
// The functions of a format return 0 or -errno.
struct TraceFormat {
    size_t writer_bytes;
    // Writes the head of the file and the name of the process.
    int (*head)(struct TraceWriter *writer);
    int (*thread)(struct TraceWriter *writer,
                  const struct TimelineThread *thread);
    int (*begin)(struct TraceWriter *writer, uint64_t ticks, uint32_t id,
                 enum CallBegin how);
    int (*end)(struct TraceWriter *writer, uint64_t ticks, uint32_t id,
               enum CallEnd how);
    int (*step)(struct TraceWriter *writer, uint64_t ticks, uint32_t inside,
                uint64_t what, bool begins);
    // `task` is called when a step of a task begins. If the argument `task` is
    // NULL, the step of the task ends. All steps of a task have the task's
    // number, and a flow links them.
    int (*task)(struct TraceWriter *writer, uint64_t ticks,
                const struct Mark *task);
    int (*loop)(struct TraceWriter *writer, uint64_t ticks,
                const struct Event *event, uint32_t inside);
    // Writes an instant (Trace_instant_word) for the function `id`.
    int (*instant)(struct TraceWriter *writer, uint64_t ticks,
                   const struct Event *event, uint32_t id);
    // Writes that `count` events are missing. `what` gives the reason in one
    // word.
    int (*gap)(struct TraceWriter *writer, uint64_t ticks, const char *what,
               uint64_t count);
    int (*said)(struct TraceWriter *writer, uint64_t ticks,
                const struct Mark *mark);
    // `own` is called once, before the first call of `counter`, `change`,
    // `slice` or `sample`. `counter`, `change`, `slice` and `sample` are called
    // only after all threads have been written. The argument `ns` of `counter`,
    // `change` and `sample` is the time since the start of tracing. The times
    // of these events can be in any order.
    int (*own)(struct TraceWriter *writer);
    int (*counter)(struct TraceWriter *writer, uint64_t ns,
                   const struct TraceCounter *counter);
    int (*change)(struct TraceWriter *writer, uint64_t ns,
                  const struct TraceChange *change);
    int (*slice)(struct TraceWriter *writer, const struct TraceSlice *slice);
    int (*sample)(struct TraceWriter *writer, uint64_t ns,
                  const struct TimelineSample *sample);
    int (*tail)(struct TraceWriter *writer);     // Can be NULL.
    void (*release)(struct TraceWriter *writer); // Can be NULL.
};

// A fact about the whole run, which is written into the file.
struct TraceFact {
    const char *key;
    enum { FACT_TEXT, FACT_NUMBER, FACT_REAL, FACT_NS } kind;
    const char *text;
    uint64_t number; // Value of a FACT_NUMBER, or ns of a FACT_NS.
    double real;     // Value of a FACT_REAL, or microseconds of a FACT_NS.
};

struct TraceFacts {
    struct TraceFact list[TRACE_FACTS];
    size_t count;
    // Text with the rules of the filter, separated by commas.
    char exclude[TRACE_RULES], include_only[TRACE_RULES];
};

// The name, file and line of a function, as valid UTF-8.
struct TraceName {
    char name[TRACE_NAME];
    char file[TRACE_TEXT];
    uint32_t line;
    uintptr_t address;
};

// Returns the category of a slice.
const char *Trace_slice_word(enum TraceSliceKind kind);
// Returns the word for an unusual beginning or end of a call, or NULL for a
// usual one.
const char *Trace_begin_word(enum CallBegin how);
const char *Trace_end_word(enum CallEnd how);
// An instant is an EVENT_DARK or an EVENT_WAIT. Trace_instant_word returns the
// word that is put before the name of an instant's function, and
// Trace_instant_note returns an explanation of the instant. Both are escaped
// for JSON.
const char *Trace_instant_word(enum EventKind kind);
const char *Trace_instant_note(enum EventKind kind);

// Sets the trace that is to be written next.
void TraceWriter_init(struct TraceWriter *writer,
                      const struct PerfettoTrace *trace);
void TraceWriter_facts(const struct TraceWriter *writer,
                       struct TraceFacts *facts);
void TraceWriter_name(const struct TraceWriter *writer, uint32_t id,
                      struct TraceName *name);
// Returns the newest thread with the id `tid` that is in the file, or NULL.
const struct TimelineThread *
TraceWriter_thread(const struct TraceWriter *writer, uint64_t tid);
// Makes the name of an instruction: "OPCODE @OFFSET". `what` is an Event_step.
void TraceWriter_step(const struct TraceWriter *writer, uint64_t what,
                      char label[TRACE_STEP]);
// Makes the label of a frame in a sample's stack. If `id` is 0, the label
// stands for all outer frames that the sampler did not keep.
void TraceWriter_frame(const struct TraceWriter *writer, uint32_t id,
                       char label[TRACE_FRAME]);
// Writes the bytes in the buffer to the file. Returns 0 or -errno.
int TraceWriter_flush(struct TraceWriter *writer);
// Appends `size` bytes of data to the file. `size` can be larger than the
// buffer. Returns 0 or -errno.
int TraceWriter_put(struct TraceWriter *writer, const void *data, size_t size);
// Calls `progress` if TRACE_LOOK_NS have passed since its last call. Returns 0,
// or -ECANCELED if `progress` returned false.
int TraceWriter_look(struct TraceWriter *writer);

// Converts a duration in ticks to ns.
static inline uint64_t TraceWriter_span_ns(const struct TraceWriter *writer,
                                           uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * writer->scale >>
                      writer->shift);
}

// Returns the time of an event in ns since the start of tracing, or since the
// start of the earliest trace in the file (later_ns). An event before the start
// of tracing gets the time of the start.
static inline uint64_t TraceWriter_ns(const struct TraceWriter *writer,
                                      uint64_t ticks)
{
    uint64_t start = writer->trace->start_ticks;

    return TraceWriter_span_ns(writer, ticks > start ? ticks - start : 0) +
           writer->later_ns;
}

// Counts a written event, and returns 0 or -ECANCELED.
static inline int TraceWriter_count(struct TraceWriter *writer)
{
    if (writer->events++ % TRACE_LOOK_EVERY)
        return 0;
    return TraceWriter_look(writer);
}

// Returns an address at which the caller may write `size` bytes, which are at
// most TRACE_BUFFER. After an error returns NULL, and the error is in
// writer->error. After writing, the caller passes the address behind the
// written bytes to TraceWriter_took.
static inline uint8_t *TraceWriter_room(struct TraceWriter *writer, size_t size)
{
    if (size > TRACE_BUFFER - writer->used && TraceWriter_flush(writer))
        return NULL;
    return writer->buffer + writer->used;
}

static inline void TraceWriter_took(struct TraceWriter *writer,
                                    const uint8_t *end)
{
    writer->used = (size_t)(end - writer->buffer);
}

// The kinds of keys in the table of encoded bytes. No key is 0.
enum TraceKey {
    KEY_FUNCTION = 1,
    KEY_LOOP,
    KEY_INSTANT,
    KEY_FRAME,
    KEY_COUNTER,
    KEY_SLICE,
    KEY_STEP,
    KEY_TASK
};

// Returns a key of the table of encoded bytes. `part` has at most 16 bits.
static inline uint64_t Trace_key(enum TraceKey kind, uint32_t id, unsigned part)
{
    return (uint64_t)kind << 48 | (uint64_t)part << 32 | id;
}

static inline bool Trace_is(uint64_t key, enum TraceKey kind)
{
    return key >> 48 == kind;
}

// The key of a stack is an FNV-1a hash of the key of the outer frames and of
// the id of the innermost frame's function. The key of a stack without frames.
#define TRACE_STACK_KEY UINT64_C(0xcbf29ce484222325)

static inline uint64_t Trace_stack_key(uint64_t before, uint32_t id)
{
    return (before ^ id) * UINT64_C(0x100000001b3) | UINT64_C(1) << 63;
}
