// SPDX-License-Identifier: MIT
// The sampler's window: how long it is, how many samples it holds, and how a
// share is written that rests on some of them. All views write shares by it.
// Pure functions, any thread.
#ifndef OCULAR_TUI_MODEL_WINDOW_H
#define OCULAR_TUI_MODEL_WINDOW_H

#include "ipc/snapshot.h"
#include "tui/text/number.h"

#define WINDOW_TEXT 64
// A sample fades as it ages. One that is as old as the window is long counts
// for e^-2 of a fresh one, which counts for two: less than that is none.
#define WINDOW_LEAST 0.25
#define WINDOW_FEW 10.0 // fewer samples than these give one digit, dimmed

struct Window {
    double s;         // length in seconds; NaN: the process does not report it
    double samples;   // of running threads, in it; NaN: the same
    double per_share; // samples that a whole core's share rests on; NaN: not
                      // known, as nothing ran
};

// What a number rests on.
enum Basis {
    BASIS_NONE,  // no sample in the window, or null
    BASIS_TRACE, // less than one sample
    BASIS_FEW,   // fewer than WINDOW_FEW
    BASIS_FINE   // as many, or the process does not report how many
};

struct Window Window_unknown(void);
// `cpu_share` is that of all threads.
struct Window Window_of(const struct Snapshot *snapshot, double cpu_share);
// Samples of the window that a CPU share rests on; NaN: not known.
double Window_samples(const struct Window *window, double share);
enum Basis Window_basis(const struct Window *window, double share);
// "" without a sample, "<0.3%" where the samples tell no more, "3%" where they
// are few, "3.4%" else. Returns what it rests on.
enum Basis Window_share(char out[NUMBER_MAX], const struct Window *window,
                        double share);
// The same for shares that have no sample count, as those of waiting: "" for
// none, "<0.01%" for less than that.
const char *Window_plain_share(char out[NUMBER_MAX], double share);
// "30 s, 412 samples"; "" where the process does not report it.
const char *Window_text(char out[WINDOW_TEXT], const struct Window *window);
// One significant digit of a positive value.
double Window_one_digit(double value);

#endif
