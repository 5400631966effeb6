// SPDX-License-Identifier: MIT
// Sums up the events and samples in a stretch of a recording. The number of a
// function's calls is the number of events that begin a call of the function.
// CPU times come from samples only, because the times of events include the
// cost of the hooks. Only one thread at a time may use a struct StretchSums.
#pragma once

#include "formats/armed_spans.h"
#include "formats/recording_reader.h"
#include "formats/sum_table.h"
#include "formats/wait_sums.h"
#include "tracer/sample/flame.h"

#define STRETCH_CURVE 48 // Number of elements of `curve`.
// Largest number of changes of opcodes that are kept. Of the changes of
// opcodes, the newest ones are kept.
#define STRETCH_CHANGES 256u

// The change of an opcode, because an instruction was specialised or
// deoptimised.
struct StretchChange {
    uint64_t ticks;
    uint32_t id, line;
    uint8_t from, to;
};

struct StretchSums {
    const struct RecordingReader *reader; // The caller still owns the reader.
    // Fields whose names end in _s are seconds since tracing began.
    double all_from_s, all_to_s; // Beginning and end of the whole recording.
    // Time in seconds from which on the recording lacks no event.
    double counted_s;
    double from_s, to_s; // Beginning and end of the chosen stretch of the run.
    // Beginning and end of the chosen stretch of the run in ticks. The chosen
    // stretch does not include the tick `to`.
    uint64_t from, to;
    // Sums by the id of the function. `ns` is the CPU time with the function as
    // the innermost one. `total_ns` is the CPU time and waiting time with the
    // function anywhere on the stack. `what` is the time in ticks of the newest
    // call of the function.
    struct SumTable functions;
    // Sums by the id of the callee and the id of the caller (0 if unknown).
    struct SumTable callers;
    // Sums by the thread id and the id of the function (0 if unknown).
    struct SumTable threads;
    // Sums by the id of the function and the code unit of the instruction.
    // `what` is the Event_step of the newest sample that found the instruction
    // running. `calls` is the number of samples in which the instruction was
    // calling a C function.
    struct SumTable instructions;
    // Sums by 1 plus the opcode before the change, and by the opcode after the
    // change.
    struct SumTable pairs;
    struct ArmedSpans spans;
    struct WaitSums waits;
    struct Flame flame;
    // A ring buffer, in which a new change overwrites the oldest change.
    struct StretchChange changes[STRETCH_CHANGES];
    // Number of all changes, also of the overwritten ones.
    uint64_t change_count;
    // The recording is divided into parts of equal length. An element of
    // `curve` is the CPU time of the samples in one part, divided by the part's
    // length (cores).
    float curve[STRETCH_CURVE];
    uint64_t events, lost;
    uint64_t samples;
    double cpu_ns; // ns of CPU time of all samples.
    // ns of CPU time of the samples whose innermost function is unknown.
    double else_ns;
    // Number of the newest sample, by which a function counts only once for
    // each sample.
    uint32_t stamp;
    // `overhead` is the sum of `overheads` values of the overhead counter, each
    // of which is a fraction of the program's CPU time. `armed` is the newest
    // number of armed hooks, or NaN if unknown.
    double overhead, armed;
    uint64_t overheads;
};

void StretchSums_init(struct StretchSums *sums,
                      const struct RecordingReader *reader);
void StretchSums_release(struct StretchSums *sums);
// Reads the part of the recording that belongs to the chosen stretch of the
// run. Returns 0 or -errno. Returns -ECANCELED if `watch` has stopped the
// reading.
int StretchSums_read(struct StretchSums *sums, double from_s, double to_s,
                     const struct RecordingWatch *watch);
// Returns true if the recording has waits. Recordings of older versions of
// Ocular have no waits.
bool StretchSums_has_waits(const struct StretchSums *sums);
// Returns the length of the chosen stretch of the run in seconds, at least
// 1e-9.
double StretchSums_length(const struct StretchSums *sums);
// StretchSums_s and StretchSums_ticks convert between ticks and seconds since
// tracing began.
double StretchSums_s(const struct StretchSums *sums, uint64_t ticks);
uint64_t StretchSums_ticks(const struct StretchSums *sums, double s);
// Sets *name to the name of the function `id`. Returns false if the recording
// does not have the function's name.
bool StretchSums_name(const struct StretchSums *sums, uint32_t id,
                      struct PerfettoName *name);
