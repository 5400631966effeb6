// SPDX-License-Identifier: MIT
// struct Window contains the length of the sampler's window and the number of
// samples in it. All views use these functions, so that shares are written with
// the right number of digits. The functions are pure, and any thread may call
// them.
#pragma once

#include "ipc/snapshot.h"
#include "tui/text/number.h"

#define WINDOW_TEXT 64
// A share of fewer than WINDOW_LEAST samples counts as zero. The weight of a
// sample decreases with its age. A new sample has the weight 2. A sample that
// is as old as the window is long has the weight 2 * e^-2.
#define WINDOW_LEAST 0.25
// A share that is based on fewer samples is dimmed and written with one digit.
#define WINDOW_FEW 10.0

struct Window {
    double s; // Length of the window in seconds (NaN = not reported).
    // Number of samples of running threads in the window (NaN = not reported).
    double samples;
    // Number of samples that correspond to a share of one whole core. NaN if no
    // thread ran, or if there is no sample.
    double per_share;
};

// enum Basis says on how many samples a share is based.
enum Basis {
    BASIS_NONE,  // No sample in the window, or the share is null.
    BASIS_TRACE, // Less than one sample.
    BASIS_FEW,   // Fewer samples than WINDOW_FEW.
    // WINDOW_FEW samples or more, or the number of samples is not reported.
    BASIS_FINE
};

struct Window Window_unknown(void);
// Returns the window of a snapshot's shares. `cpu_share` is the CPU share of
// all threads.
struct Window Window_of(const struct Snapshot *snapshot, double cpu_share);
// Returns the number of samples on which a CPU share is based, or NaN if
// unknown.
double Window_samples(const struct Window *window, double share);
enum Basis Window_basis(const struct Window *window, double share);
// Writes "" for no sample, a text such as "<0.3%" for less than one sample,
// "3%" for few samples, and otherwise "3.4%". Returns the enum Basis of the
// share.
enum Basis Window_share(char out[NUMBER_MAX], const struct Window *window,
                        double share);
// Writes a share that is based on an unknown number of samples, for example the
// share of waiting. Writes "" for 0, and "<0.01%" for a smaller share.
const char *Window_plain_share(char out[NUMBER_MAX], double share);
// Writes a text such as "30 s, 412 samples", or "" if the process does not
// report the window.
const char *Window_text(char out[WINDOW_TEXT], const struct Window *window);
// Rounds a positive value to one significant digit.
double Window_one_digit(double value);
