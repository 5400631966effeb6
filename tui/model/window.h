// SPDX-License-Identifier: MIT
// The sampler's window: its length, its samples, and how a share is written
// that rests on some of them. All views write shares by it. Pure functions, any
// thread.
#ifndef OCULAR_TUI_MODEL_WINDOW_H
#define OCULAR_TUI_MODEL_WINDOW_H

#include "ipc/snapshot.h"
#include "tui/text/number.h"

#define WINDOW_TEXT 64
// Samples. A sample weighs less as it ages: one as old as the window weighs
// e^-2 of a new one, which weighs two. A share of fewer samples counts as none.
#define WINDOW_LEAST 0.25
#define WINDOW_FEW 10.0 // a share of fewer samples has one digit, dimmed

struct Window {
    double s;         // length in seconds; NaN: the process does not report it
    double samples;   // of running threads, in it; NaN: not reported
    double per_share; // samples that the share of a whole core rests on; NaN:
                      // not known, as nothing ran
};

// The number of samples behind a share.
enum Basis {
    BASIS_NONE,  // no sample in the window, or null
    BASIS_TRACE, // less than one sample
    BASIS_FEW,   // fewer than WINDOW_FEW
    BASIS_FINE   // WINDOW_FEW or more, or not reported
};

struct Window Window_unknown(void);
// `cpu_share`: of all threads.
struct Window Window_of(const struct Snapshot *snapshot, double cpu_share);
// Returns the samples of the window that a CPU share rests on; NaN: not known.
double Window_samples(const struct Window *window, double share);
enum Basis Window_basis(const struct Window *window, double share);
// Writes "" without a sample, "<0.3%" below one sample, "3%" where samples are
// few, "3.4%" else. Returns what the share rests on.
enum Basis Window_share(char out[NUMBER_MAX], const struct Window *window,
                        double share);
// The same for shares without a count of samples, as those of waiting: "" for
// none, "<0.01%" for less than that.
const char *Window_plain_share(char out[NUMBER_MAX], double share);
// Writes "30 s, 412 samples"; "": the process does not report it.
const char *Window_text(char out[WINDOW_TEXT], const struct Window *window);
// Rounds a positive value to one significant digit.
double Window_one_digit(double value);

#endif
