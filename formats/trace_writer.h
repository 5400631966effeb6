// SPDX-License-Identifier: MIT
// Has the parts that the writers of a timeline share. These are the file and
// its buffer, times, names and progress. A format (json_trace.c, pftrace.c)
// turns calls and marks into bytes. perfetto.c walks over the timeline and
// calls the format. One thread uses a writer.
#ifndef OCULAR_FORMATS_TRACE_WRITER_H
#define OCULAR_FORMATS_TRACE_WRITER_H

#include "formats/encoded.h"
#include "formats/output.h"
#include "formats/replay.h"
#include "tracer/timeline/aside.h"
#include "tracer/timeline/sample_track.h"
#include "tracer/timeline/trace.h"

#define TRACE_BUFFER (128u << 10) // more than any event takes
#define TRACE_NAME 512  // maximum size of a function's name with its NUL
#define TRACE_TEXT 4096 // maximum size of other text
#define TRACE_FRAME (TRACE_NAME + TRACE_TEXT + 32) // of a frame's label
#define TRACE_STEP 96
#define TRACE_LOOK_EVERY 256    // events between two readings of the clock
#define TRACE_LOOK_NS 50000000u // shortest time between two reports of progress
#define TRACE_FACTS 17          // the largest number of facts about a run
#define TRACE_RULES 4096        // bytes of the rules of a filter, with the NUL

struct TraceWriter {
    const struct PerfettoTrace *trace; // the trace that is written now
    const struct PerfettoTrace *first; // first trace of the file
    struct Output output;
    struct Encoded encoded; // pieces that are made once per function or loop
    uint64_t events;        // number of events written
    uint64_t total;         // about the number of all events
    uint64_t looked_ns;     // when progress was last reported
    uint64_t scale;         // ns per tick, shifted left by `shift`
    unsigned shift;
    // ns between the start of this trace and the start of the file's time; 0
    // unless the format sets it
    uint64_t later_ns;
    uint64_t last; // ticks of the newest event of this thread
    size_t chunk;  // next chunk of the view to write
    int error;     // 0, or -errno of a failed write
    char date[40]; // of the start
    size_t used;   // bytes in the buffer
    uint8_t buffer[TRACE_BUFFER];
};

struct TraceCounter {
    enum AsideCounter which;
    const struct TimelineThread *thread; // set for ASIDE_CPU only
    const char *name;
    const char *unit;
    double value;
};

struct TraceChange {
    char name[2 * 64 + 8]; // "A -> B"
    uint32_t id;           // of the function
    uint32_t line;         // 0: none
};

// Describes a period in which a function was dark.
struct TraceDark {
    uint32_t id;
    uint64_t begin_ns, end_ns; // since the start of tracing
    bool earlier;              // the period began before the file begins
    bool open;                 // the period goes on where the file ends
};

// Describes a format. The format's writer begins with a struct TraceWriter. The
// functions return 0 or -errno. `begin` and `end` are functions of a
// ReplayTarget, and the writer is their context.
struct TraceFormat {
    size_t writer_bytes;
    int (*head)(struct TraceWriter *writer); // also writes the process's name
    int (*thread)(struct TraceWriter *writer,
                  const struct TimelineThread *thread);
    int (*begin)(void *writer, uint64_t ticks, uint32_t id, enum CallBegin how);
    int (*end)(void *writer, uint64_t ticks, uint32_t id, enum CallEnd how);
    int (*step)(struct TraceWriter *writer, uint64_t ticks, uint32_t inside,
                uint64_t what, bool begins);
    // A step of a task begins. If `task` is NULL, the step ends. A flow links
    // all steps of the task with the same number.
    int (*task)(struct TraceWriter *writer, uint64_t ticks,
                const struct Mark *task);
    int (*loop)(struct TraceWriter *writer, uint64_t ticks,
                const struct Event *event, uint32_t inside);
    // Writes an instant of a kind in instant.h, for the function `id`.
    int (*instant)(struct TraceWriter *writer, uint64_t ticks,
                   const struct Event *event, uint32_t id);
    // `count` events are missing; `what` says why in a word.
    int (*gap)(struct TraceWriter *writer, uint64_t ticks, const char *what,
               uint64_t count);
    int (*said)(struct TraceWriter *writer, uint64_t ticks,
                const struct Mark *mark);
    // Called once, before the next four functions. The four functions are
    // called after all threads were written. The times of the four functions
    // are `ns` since the start of tracing, in any order.
    int (*own)(struct TraceWriter *writer);
    int (*counter)(struct TraceWriter *writer, uint64_t ns,
                   const struct TraceCounter *counter);
    int (*change)(struct TraceWriter *writer, uint64_t ns,
                  const struct TraceChange *change);
    int (*dark)(struct TraceWriter *writer, const struct TraceDark *dark);
    int (*sample)(struct TraceWriter *writer, uint64_t ns,
                  const struct TimelineSample *sample);
    int (*tail)(struct TraceWriter *writer);     // may be NULL
    void (*release)(struct TraceWriter *writer); // may be NULL
};

// Is a fact about the whole run. Facts are written into the file.
struct TraceFact {
    const char *key;
    enum { FACT_TEXT, FACT_NUMBER, FACT_REAL, FACT_NS } kind;
    const char *text;
    uint64_t number; // or the ns
    double real;     // or the microseconds
};

struct TraceFacts {
    struct TraceFact list[TRACE_FACTS];
    size_t count;
    // The rules of the filter, with commas.
    char exclude[TRACE_RULES], include_only[TRACE_RULES];
};

// Holds a function's name and place as valid UTF-8.
struct TraceName {
    char name[TRACE_NAME];
    char file[TRACE_TEXT];
    uint32_t line;
    uintptr_t address;
};

// Returns the word that says how a call begins or ends, or NULL if no word is
// needed.
const char *Trace_begin_word(enum CallBegin how);
const char *Trace_end_word(enum CallEnd how);

// Sets the trace that is written from now on.
void TraceWriter_init(struct TraceWriter *writer,
                      const struct PerfettoTrace *trace);
void TraceWriter_facts(const struct TraceWriter *writer,
                       struct TraceFacts *facts);
void TraceWriter_name(const struct TraceWriter *writer, uint32_t id,
                      struct TraceName *name);
// Makes the name of an instruction: "OPCODE @OFFSET". `what` is an Event_step.
void TraceWriter_step(const struct TraceWriter *writer, uint64_t what,
                      char label[TRACE_STEP]);
// Makes the label of a sample's frame. Id 0 stands for all outer frames that
// were not kept.
void TraceWriter_frame(const struct TraceWriter *writer, uint32_t id,
                       char label[TRACE_FRAME]);
// Writes the buffer to the file. Returns 0 or -errno.
int TraceWriter_flush(struct TraceWriter *writer);
// Appends any number of bytes. Returns 0 or -errno.
int TraceWriter_put(struct TraceWriter *writer, const void *data, size_t size);
// Reports progress if enough time has passed. Returns 0 or -ECANCELED.
int TraceWriter_look(struct TraceWriter *writer);

// Returns the nanoseconds of a duration in ticks.
static inline uint64_t TraceWriter_span_ns(const struct TraceWriter *writer,
                                           uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * writer->scale >>
                      writer->shift);
}

// Returns the time of an event in nanoseconds since the start of tracing, or
// since the start of the file's earliest trace (later_ns). An event before the
// start of tracing gets the time of the start.
static inline uint64_t TraceWriter_ns(const struct TraceWriter *writer,
                                      uint64_t ticks)
{
    uint64_t start = writer->trace->start_ticks;

    return TraceWriter_span_ns(writer, ticks > start ? ticks - start : 0) +
           writer->later_ns;
}

// Counts an event. Returns 0 or -ECANCELED.
static inline int TraceWriter_count(struct TraceWriter *writer)
{
    if (writer->events++ % TRACE_LOOK_EVERY)
        return 0;
    return TraceWriter_look(writer);
}

// Returns the address at which the caller may write up to `size` bytes, at most
// TRACE_BUFFER. After an error returns NULL, and the error is in writer->error.
// After the writing the caller passes the end of the bytes to TraceWriter_took.
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

// The next functions make the keys of pieces that are encoded once.
static inline uint64_t Trace_function_key(uint32_t id)
{
    return id;
}

static inline uint64_t Trace_loop_key(uint32_t id, unsigned unit)
{
    return UINT64_C(1) << 48 | (uint64_t)unit << 32 | id;
}

static inline uint64_t Trace_counter_key(uint32_t id, enum AsideCounter which)
{
    return UINT64_C(4) << 48 | (uint64_t)which << 32 | id;
}

static inline uint64_t Trace_step_key(uint32_t id, unsigned unit)
{
    return UINT64_C(6) << 48 | (uint64_t)unit << 32 | id;
}

static inline uint64_t Trace_task_key(uint32_t number)
{
    return UINT64_C(7) << 48 | number;
}

static inline bool Trace_is_step(uint64_t key)
{
    return key >> 48 == 6;
}

static inline uint64_t Trace_dark_key(uint32_t id)
{
    return UINT64_C(5) << 48 | id;
}

static inline uint64_t Trace_frame_key(uint32_t id)
{
    return UINT64_C(3) << 48 | id;
}

// The key of a stack is computed by FNV-1a from the key of the outer frames and
// the id of one more frame.
// Key of a stack without frames.
#define TRACE_STACK_KEY UINT64_C(0xcbf29ce484222325)

static inline uint64_t Trace_stack_key(uint64_t before, uint32_t id)
{
    return (before ^ id) * UINT64_C(0x100000001b3) | UINT64_C(1) << 63;
}

static inline uint64_t Trace_instant_key(uint32_t id, enum EventKind kind)
{
    return UINT64_C(2) << 48 | (uint64_t)kind << 32 | id;
}

static inline bool Trace_is_instant(uint64_t key)
{
    return key >> 48 == 2;
}

#endif
