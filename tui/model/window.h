// SPDX-License-Identifier: MIT
// The sampler's window: its length, its number of samples, and how a share is
// written that is based on some of these samples. All views write shares with
// it. Pure functions, any thread.
#ifndef OCULAR_TUI_MODEL_WINDOW_H
#define OCULAR_TUI_MODEL_WINDOW_H

#include "ipc/snapshot.h"
#include "tui/text/number.h"

#define WINDOW_TEXT 64
// Samples. The weight of a sample decreases with its age: a new sample weighs
// two, and one as old as the window weighs e^-2 of that. A share of fewer
// samples counts as zero.
#define WINDOW_LEAST 0.25
#define WINDOW_FEW 10.0 // a share of fewer samples has one digit and is dimmed

struct Window {
    double s; // length in seconds; NaN: not reported
    // samples of running threads in the window; NaN: not reported
    double samples;
    // samples behind the share of one whole core; NaN: not known, since nothing
    // ran
    double per_share;
};

// The number of samples behind a share.
enum Basis {
    BASIS_NONE,  // no sample in the window, or the share is null
    BASIS_TRACE, // the share is less than one sample
    BASIS_FEW,   // the share has fewer samples than WINDOW_FEW
    BASIS_FINE   // WINDOW_FEW or more, or the number is not reported
};

struct Window Window_unknown(void);
// `cpu_share` is the share of all threads.
struct Window Window_of(const struct Snapshot *snapshot, double cpu_share);
// Returns the number of samples behind a CPU share; NaN: not known.
double Window_samples(const struct Window *window, double share);
enum Basis Window_basis(const struct Window *window, double share);
// Writes "" if there is no sample, "<0.3%" below one sample, "3%" for few
// samples, else "3.4%". Returns how many samples the share is based on.
enum Basis Window_share(char out[NUMBER_MAX], const struct Window *window,
                        double share);
// Writes a share for which no number of samples is known, for example of
// waiting: "" for 0, "<0.01%" for less than that.
const char *Window_plain_share(char out[NUMBER_MAX], double share);
// Writes text such as "30 s, 412 samples", or "" if the process does not report
// it.
const char *Window_text(char out[WINDOW_TEXT], const struct Window *window);
// Rounds a positive value to one significant digit.
double Window_one_digit(double value);

#endif
