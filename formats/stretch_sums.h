// SPDX-License-Identifier: MIT
// The sums of the events and samples of a stretch of a recording. Calls are
// counted by the events that begin them, and times are those of samples: what
// events tell of times has the hooks' own cost in it. One thread.
#ifndef OCULAR_FORMATS_STRETCH_SUMS_H
#define OCULAR_FORMATS_STRETCH_SUMS_H

#include "formats/armed_spans.h"
#include "formats/recording_reader.h"
#include "formats/sum_table.h"
#include "tracer/sample/flame.h"

#define STRETCH_CURVE 48
#define STRETCH_CHANGES 256u // the newest that are kept

struct StretchChange {
    uint64_t ticks;
    uint32_t id, line;
    uint8_t from, to;
};

struct StretchSums {
    const struct RecordingReader *reader; // borrowed
    double all_from_s, all_to_s;          // what the recording holds
    double counted_s;                     // from there on all calls are there
    double from_s, to_s;                  // the stretch, since tracing began
    uint64_t from, to;                    // ticks; the stretch is before `to`
    // By id: calls, samples, ns on top, total_ns on the stack; what: ticks of
    // the newest call.
    struct SumTable functions;
    struct SumTable callers;      // by callee and caller (0: the others)
    struct SumTable threads;      // by thread's id and function (0: none)
    struct SumTable instructions; // by id and unit; what: Event_step
    struct SumTable pairs;        // by opcodes: 1 + before, and after
    struct ArmedSpans spans;
    struct Flame flame;
    struct StretchChange changes[STRETCH_CHANGES]; // a ring
    uint64_t change_count;
    // CPU time of all samples by the part of the whole recording, not of the
    // stretch; as cores.
    float curve[STRETCH_CURVE];
    uint64_t events, lost;
    uint64_t samples;
    double cpu_ns;  // of all samples
    double else_ns; // of those of no known function
    uint32_t stamp; // of the newest sample
    // Values of counters: sums over their numbers.
    double overhead, armed;
    uint64_t overheads;
};

void StretchSums_init(struct StretchSums *sums,
                      const struct RecordingReader *reader);
void StretchSums_release(struct StretchSums *sums);
// Reads what there is of the stretch. 0 or -errno.
int StretchSums_read(struct StretchSums *sums, double from_s, double to_s,
                     const struct RecordingWatch *watch);
// s of the stretch, never 0.
double StretchSums_length(const struct StretchSums *sums);
// s since tracing began.
double StretchSums_s(const struct StretchSums *sums, uint64_t ticks);
uint64_t StretchSums_ticks(const struct StretchSums *sums, double s);
// The name of a function; false: it has none.
bool StretchSums_name(const struct StretchSums *sums, uint32_t id,
                      struct PerfettoName *name);

#endif
