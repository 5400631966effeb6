// SPDX-License-Identifier: MIT
// Decides when slices begin and end. In a slice all functions have hooks at the
// same time, callers and callees. The clock ends a slice. Between the slices of
// all functions there are short slices, in which only the program's own
// functions have hooks. The short slices are cheap and frequent, so the call
// rates of the program's own functions are at most some seconds old. The
// functions of slices.h compute only from their arguments, because the caller
// passes the time and the cost so far. The governor's thread owns a struct
// Slices.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum SlicePhase {
    SLICE_RESTS, // No slice is open.
    // The governor installs the hooks, until Slices_armed is called.
    SLICE_BEGINS,
    SLICE_COUNTS, // All functions have hooks.
    // The governor stores the results of the slice, until Slices_ended is
    // called.
    SLICE_ENDS
};

enum OwnSlice { OWN_SLICE_NONE, OWN_SLICE_BEGINS, OWN_SLICE_ENDS };

struct SlicesReading {
    double now_s;
    // Seconds of CPU time that hooks and arming have taken so far.
    double spent_s;
    double hooks_s; // The part of `spent_s` that hooks have taken.
    // Seconds per second that hooks take in functions that always have hooks.
    double stays;
    double rate;    // Seconds per second that all hooks may take.
    bool overdrawn; // True if the token bucket is in debt.
    // True during a burst of new code, for example while modules are imported.
    bool burst;
    uint32_t codes; // Number of code objects that Ocular has found so far.
};

struct Slices {
    enum SlicePhase phase;
    // True if in the next slice even hot functions keep their hooks for the
    // hits of a second.
    bool all;
    double due_s;     // Time at which the next slice begins.
    bool own_open;    // True in a slice of the program's own functions.
    double own_due_s; // Time at which the next slice of own functions begins.
    double own_begun_s;
    double own_hooks_s; // `hooks_s` of the reading at the time `own_begun_s`.
    double begun_s;     // Time at which the newest slice began.
    double ends_s;      // Time at which the newest slice ends.
    double length_s;    // Length of the next slice in seconds.
    // Seconds from the end of the newest slice to the next slice.
    double interval_s;
    // `spent_s` of the reading at the beginning of the newest slice.
    double spent_s;
    // `codes` of the reading at the beginning of the newest slice.
    uint32_t codes;
    unsigned count;  // Number of slices that have begun.
    uint32_t random; // State of the random generator that varies `due_s`.
};

// Begins the first slice. Code that Ocular finds before the end of the first
// slice gets hooks.
void Slices_init(struct Slices *slices, double now_s);
enum SlicePhase Slices_step(struct Slices *slices,
                            const struct SlicesReading *reading);
// Slices_armed is called when all functions have their hooks. Slices_ended is
// called when the results of the slice are stored.
void Slices_armed(struct Slices *slices, double now_s);
void Slices_ended(struct Slices *slices, const struct SlicesReading *reading);
// Decides whether a slice of own functions begins or ends now. The governor
// calls Slices_step_own in each full hold of the GIL, because a slice of own
// functions must not cause an additional hold.
enum OwnSlice Slices_step_own(struct Slices *slices,
                              const struct SlicesReading *reading);
// Returns the seconds of CPU time that a slice may cost if all hooks may take
// `rate` seconds per second.
double Slices_means(double rate);
// Makes the next slice begin at once, because a viewer or the program has asked
// for new values of all functions.
void Slices_hurry(struct Slices *slices);
