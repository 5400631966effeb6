// SPDX-License-Identifier: MIT
// Compares two runs function by function. The compared numbers are a function's
// share of the CPU time, its CPU time per call, its calls per second, and the
// time for which threads waited in it. Each change has a standard error, and a
// change of less than two standard errors is noise. Two runs of the same
// program never take exactly the same time. A change of a CPU time or of a rate
// is therefore measured relative to the pace. The pace is the median change of
// all functions.
#pragma once

#include "ipc/snapshot.h"
#include "tui/model/run_numbers.h"

struct ComparedRun {
    const char *command;
    const char *python;
    double seconds; // Length of the compared part of the run.
    uint64_t samples;
    double tsc_hz; // Ticks of the time stamp counter per second.
    // The settings of the trace. If the version is null, only mode and
    // threshold are known.
    const char *version; // Version of Ocular.
    const char *mode;
    const char *events; // Names of the chosen events, or NULL.
    uint64_t threshold;
    // Allowed share of CPU time, or null without a budget.
    double overhead_budget;
    const struct FilterRule *exclude;
    size_t exclude_count;
    const struct FilterRule *include_only;
    size_t include_only_count;
};

// Waits of one kind in one function, as parts of one thread's time.
struct ComparedWait {
    const char *kind;
    double a, b;
};

struct ComparedFunction {
    const char *name;
    const char *file;
    uint64_t line;
    // Id of the function in the second run, or null if the second run lacks it.
    uint64_t id;
    union {
        struct {
            // A function's part of each run's CPU time. The change is b - a.
            struct Measured share;
            // CPU time per call in ns. The change is relative to the mean of
            // the first run times the pace. A change of 0.1 means that a call
            // takes 10 % longer than expected.
            struct Measured mean;
            // Calls per second. The change is relative, as for the mean.
            struct Measured rate;
            // The time that threads waited in the function itself, as a part of
            // one thread's time. Event loops that had nothing to do and waits
            // for a CPU are not included. The change is b - a.
            struct Measured wait;
            // The relative change of the share, compared with the median change
            // of all functions. If one function becomes faster, the shares of
            // all other functions grow, but their `spent` stays about 0.
            struct Measured spent;
        };
        struct Measured of[5]; // All measures, indexed by enum Measure.
    };
    // The kinds of waits that at least one of the runs has.
    const struct ComparedWait *waits;
    size_t wait_count;
    // True if share, mean, rate or wait changed by more than noise.
    uint64_t apart;
    // Change of `mean` or of `spent`, whichever has the smaller error, or null
    // if unknown.
    double slowdown;
    double slowdown_error;
    double weight; // Sort key: size of the change as a part of the CPU time.
};
enum Measure {
    MEASURE_SHARE,
    MEASURE_MEAN,
    MEASURE_RATE,
    MEASURE_WAIT,
    MEASURE_SPENT
};

struct ComparisonNote {
    const char *text;
};

struct Comparison {
    const struct ComparedRun *runs; // The first run and the second run.
    size_t run_count;
    // The pace as a factor from the first run to the second run, or null if
    // unknown. If mean_pace is 1.2, a call takes 20 % more CPU time in the
    // second run in the median.
    double mean_pace;
    double rate_pace;
    uint64_t apart; // Number of functions that changed by more than noise.
    const struct ComparisonNote *notes; // Sentences about the comparison.
    size_t note_count;
    // Functions that changed by more than noise come first. Among these
    // functions, larger changes come first.
    struct ComparedFunction *functions;
    size_t function_count;
    // Numbers that changed by more than noise come first.
    const struct ComparedNumber *numbers;
    size_t number_count;
    struct Arena arena;
};

extern const struct Record COMPARISON_RECORD;

// Compares two runs, whose snapshots are `a` and `b`. Returns 0 or -ENOMEM. The
// caller must call Comparison_release, even after -ENOMEM.
int Comparison_make(struct Comparison *comparison, const struct Snapshot *a,
                    const struct Snapshot *b);
void Comparison_release(struct Comparison *comparison);
// Returns the kind of wait that has contributed most to the change of the
// function's waits, or NULL if there is none.
const char *Comparison_wait(const struct ComparedFunction *function);
// Returns true if the measured slowdown minus two standard errors is more than
// `limit` (0.1 means 10 %).
bool Comparison_is_slower(const struct ComparedFunction *function,
                          double limit);
