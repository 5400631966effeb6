// SPDX-License-Identifier: MIT
// Two runs, function by function: the share of the CPU time, the CPU time of a
// call, and calls a second, with the standard error of each difference. A
// difference of less than two standard errors is noise. Two runs of one program
// never take the same time. So means and rates are compared with the median of
// all functions, the pace. Pure.
#ifndef OCULAR_TUI_MODEL_COMPARISON_H
#define OCULAR_TUI_MODEL_COMPARISON_H

#include "ipc/snapshot.h"

#define COMPARISON_LIMIT 2.0 // standard errors that tell two numbers apart

struct ComparedRun {
    const char *command;
    const char *python;
    double seconds; // of the stretch that is compared
    uint64_t samples;
    double tsc_hz;
};

// Each number is there for both runs, null if it is not known. Its change
// follows, the standard error of that, and whether the change is more than
// noise (`apart`).
struct ComparedFunction {
    const char *name;
    const char *file;
    uint64_t line;
    uint64_t id;    // in the second run; null: it is not there
    double share_a; // of the run's CPU time; the change is the difference
    double share_b;
    double share_change;
    double share_error;
    uint64_t share_apart;
    double mean_a; // ns of CPU time a call; the change is a part of `a`, at
    double mean_b; // the pace
    double mean_change;
    double mean_error;
    uint64_t mean_apart;
    double rate_a; // calls a second; the same
    double rate_b;
    double rate_change;
    double rate_error;
    uint64_t rate_apart;
    double spent_change; // a part of share_a, at the pace of shares: what all
    double spent_error;  // others gain if one takes less is no change
    uint64_t spent_apart;
    uint64_t apart;  // any of the first three
    double slowdown; // mean_change, or spent_change if that is surer; null: not
                     // known
    double slowdown_error;
    double weight; // what it is sorted by: change in parts of the CPU time
};

struct ComparisonNote {
    const char *text;
};

struct Comparison {
    const struct ComparedRun *runs; // two
    size_t run_count;
    double mean_pace; // of the second run: 1.2 takes a fifth more; null: too
    double rate_pace; // few functions to know it by
    uint64_t apart;   // functions
    const struct ComparisonNote *notes; // sentences on what was compared
    size_t note_count;
    // Functions that differ by more than noise come first, the largest changes
    // before others.
    struct ComparedFunction *functions;
    size_t function_count;
    struct Arena arena;
};

extern const struct Record COMPARISON_RECORD;

// 0 or -ENOMEM; release it in any case.
int Comparison_make(struct Comparison *comparison, const struct Snapshot *a,
                    const struct Snapshot *b);
void Comparison_release(struct Comparison *comparison);
// Is that function slower by more than a part of `limit`, even if it is less by
// two standard errors?
bool Comparison_is_slower(const struct ComparedFunction *function,
                          double limit);

#endif
