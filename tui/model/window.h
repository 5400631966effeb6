// SPDX-License-Identifier: MIT
// struct Window has the length and the number of samples of the sampler's
// window. All views use these functions to write shares with the right number
// of digits. The functions are pure, and any thread may call them.
#pragma once

#include "ipc/snapshot.h"
#include "tui/text/number.h"

#define WINDOW_TEXT 64
// A share of fewer than WINDOW_LEAST samples counts as zero. The weight of a
// sample decreases with its age. A new sample has the weight 2, and a sample as
// old as the window has the weight 2 * e^-2.
#define WINDOW_LEAST 0.25
// A share of fewer samples is written with one digit and dimmed.
#define WINDOW_FEW 10.0

struct Window {
    double s; // Length of the window in seconds (NaN = not reported).
    // Number of samples of running threads in the window (NaN = not reported).
    double samples;
    // Number of samples for a share of one whole core. NaN if no thread ran.
    double per_share;
};

// enum Basis is the class of a share by its number of samples.
enum Basis {
    BASIS_NONE, // The window has no sample of this share, or the share is null.
    BASIS_TRACE, // Less than one sample of the share.
    BASIS_FEW,   // Fewer samples of the share than WINDOW_FEW.
    BASIS_FINE   // WINDOW_FEW or more samples, or their number is not reported.
};

struct Window Window_unknown(void);
// Returns the window of a snapshot. `cpu_share` is the CPU share of all
// threads.
struct Window Window_of(const struct Snapshot *snapshot, double cpu_share);
// Returns the number of samples that a CPU share is based on, or NaN if
// unknown.
double Window_samples(const struct Window *window, double share);
enum Basis Window_basis(const struct Window *window, double share);
// Writes "" for no sample, a text such as "<0.3%" for less than one sample,
// "3%" for few samples, and otherwise "3.4%". Returns the enum Basis of the
// share.
enum Basis Window_share(char out[NUMBER_MAX], const struct Window *window,
                        double share);
// Writes a share whose number of samples is not known, for example the share of
// waiting. Writes "" for 0, and "<0.01%" for a smaller share.
const char *Window_plain_share(char out[NUMBER_MAX], double share);
// Writes a text such as "30 s, 412 samples", or "" if the process does not
// report the window.
const char *Window_text(char out[WINDOW_TEXT], const struct Window *window);
// Rounds a positive value to one significant digit.
double Window_one_digit(double value);
