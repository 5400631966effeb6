// SPDX-License-Identifier: MIT
// Sums the events and samples of a stretch of a recording. The number of calls
// is the number of events that begin a call. CPU times come from samples alone,
// because the times of events include the cost of the hooks. One thread at a
// time uses a struct StretchSums.
#ifndef OCULAR_FORMATS_STRETCH_SUMS_H
#define OCULAR_FORMATS_STRETCH_SUMS_H

#include "formats/armed_spans.h"
#include "formats/recording_reader.h"
#include "formats/sum_table.h"
#include "tracer/sample/flame.h"

#define STRETCH_CURVE 48     // number of values in `curve`
#define STRETCH_CHANGES 256u // number of the newest changes that are kept

// An opcode changed because an instruction was specialised or deoptimised.
struct StretchChange {
    uint64_t ticks;
    uint32_t id, line;
    uint8_t from, to;
};

struct StretchSums {
    const struct RecordingReader *reader; // borrowed
    // Times with the suffix _s are seconds since tracing began.
    double all_from_s, all_to_s; // the time that the recording covers
    double counted_s;            // no event after this time was forgotten
    double from_s, to_s;         // the stretch
    uint64_t from, to;           // the stretch in ticks, without `to` itself
    // Key: function's id. `ns` is CPU time as the innermost function, and
    // `total_ns` is CPU time anywhere on the stack. `what` is the ticks of the
    // newest call.
    struct SumTable functions;
    struct SumTable callers; // key: id of callee, id of caller (0: unknown)
    struct SumTable threads; // key: thread's id, id of function (0: unknown)
    // Key: function's id, code unit of the instruction. `what` is the
    // Event_step of the newest sample. `calls` is the number of samples in C.
    struct SumTable instructions;
    // Key: 1 + opcode before the change, opcode after the change.
    struct SumTable pairs;
    struct ArmedSpans spans;
    struct Flame flame;
    // A ring buffer, which begins again at index 0 when it is full.
    struct StretchChange changes[STRETCH_CHANGES];
    uint64_t change_count; // all changes, also those that were overwritten
    // CPU time of the samples in each part of the whole recording, in cores.
    float curve[STRETCH_CURVE];
    uint64_t events, lost;
    uint64_t samples;
    double cpu_ns;  // CPU time of all samples
    double else_ns; // CPU time of samples without a known innermost function
    uint32_t stamp; // number of the newest sample.
    // `overhead` is the sum of `overheads` values of the overhead counter, each
    // a part of the program's CPU time. `armed` is the newest number of armed
    // hooks; NaN: unknown.
    double overhead, armed;
    uint64_t overheads;
};

void StretchSums_init(struct StretchSums *sums,
                      const struct RecordingReader *reader);
void StretchSums_release(struct StretchSums *sums);
// Reads the part of the stretch that the recording covers. Returns 0 or -errno.
// Returns -ECANCELED if `watch` has stopped the reading.
int StretchSums_read(struct StretchSums *sums, double from_s, double to_s,
                     const struct RecordingWatch *watch);
// Returns the length of the stretch in seconds, at least 1e-9.
double StretchSums_length(const struct StretchSums *sums);
// StretchSums_s and StretchSums_ticks convert between ticks and seconds since
// tracing began.
double StretchSums_s(const struct StretchSums *sums, uint64_t ticks);
uint64_t StretchSums_ticks(const struct StretchSums *sums, double s);
// Sets *name to the name of a function. Returns false if the recording does not
// hold the function's name.
bool StretchSums_name(const struct StretchSums *sums, uint32_t id,
                      struct PerfettoName *name);

#endif
