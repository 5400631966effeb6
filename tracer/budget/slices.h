// SPDX-License-Identifier: MIT
// Decides when slices begin and end. In a slice all functions, callers and
// callees, are armed together, and the clock ends the slice. Between these
// slices, short slices arm only the program's own functions. The short slices
// cost little and are frequent, so the rates of own functions are at most some
// seconds old. All functions are pure, because the caller passes the time and
// the cost so far. The governor's thread owns a Slices.
#ifndef OCULAR_TRACER_BUDGET_SLICES_H
#define OCULAR_TRACER_BUDGET_SLICES_H

#include <stdbool.h>
#include <stdint.h>

enum SlicePhase {
    SLICE_RESTS,  // no slice is open
    SLICE_BEGINS, // functions are being armed, until Slices_armed
    SLICE_COUNTS, // all functions are armed
    SLICE_ENDS    // functions' spans are being closed, until Slices_ended
};

enum OwnSlice { OWN_SLICE_NONE, OWN_SLICE_BEGINS, OWN_SLICE_ENDS };

struct SlicesReading {
    double now_s;
    double spent_s; // CPU time that hooks and arming have taken so far
    double hooks_s; // the part of `spent_s` that hooks have taken
    double stays;   // seconds per second of hooks that are always armed
    double rate;    // seconds per second that all hooks may take
    bool overdrawn; // true if the token bucket is in debt
    // true while much new code comes, for example during imports
    bool burst;
    uint32_t codes; // number of code objects that were adopted so far
};

struct Slices {
    enum SlicePhase phase;
    bool all; // true if the next slice arms hot functions for a second's hits.
    double due_s;     // time at which the next slice begins.
    bool own_open;    // true in a slice of the program's own functions.
    double own_due_s; // time at which the next slice of own functions begins.
    double own_begun_s;
    double own_hooks_s; // `hooks_s` of the reading at `own_begun_s`
    double begun_s;     // time at which the newest slice began.
    double ends_s;      // time at which the newest slice ends.
    double length_s;    // length of the next slice in seconds.
    double interval_s; // seconds from the newest slice's end to the next slice.
    // `spent_s` of the reading at the beginning of the newest slice
    double spent_s;
    uint32_t codes;  // `codes` of the reading at the newest slice's beginning.
    unsigned count;  // number of slices that began.
    uint32_t random; // state of the random generator that moves `due_s`.
};

// Begins the first slice. Code that is adopted before the end of this slice is
// armed.
void Slices_init(struct Slices *slices, double now_s);
enum SlicePhase Slices_step(struct Slices *slices,
                            const struct SlicesReading *reading);
// Slices_armed is called when all functions are armed. Slices_ended is called
// when the spans of all functions are closed.
void Slices_armed(struct Slices *slices, double now_s);
void Slices_ended(struct Slices *slices, const struct SlicesReading *reading);
// Decides whether a slice of own functions begins or ends now. The governor
// calls this function in each full hold, because a slice of own functions must
// not cause an additional hold.
enum OwnSlice Slices_step_own(struct Slices *slices,
                              const struct SlicesReading *reading);
// Returns the seconds of CPU time that a slice may cost if all hooks may take
// `rate` seconds per second.
double Slices_means(double rate);
// Makes the next slice begin at once, because a viewer or the program wants all
// functions armed.
void Slices_hurry(struct Slices *slices);

#endif
