// SPDX-License-Identifier: MIT
// When slices begin and end. In a slice all functions that are not armed anyway
// are armed together, callers and callees, for a time that the clock ends.
// Pure: it is handed the time and the cost so far. The governor's thread owns
// it.
#ifndef OCULAR_TRACER_BUDGET_SLICES_H
#define OCULAR_TRACER_BUDGET_SLICES_H

#include <stdbool.h>
#include <stdint.h>

enum SlicePhase {
    SLICE_RESTS,  // between two
    SLICE_BEGINS, // functions are being armed, until Slices_armed
    SLICE_COUNTS, // all are armed
    SLICE_ENDS    // spans are being closed, until Slices_ended
};

struct SlicesReading {
    double now_s;
    double spent_s; // CPU time that hooks and arming took so far
    double rate;    // s a second that all hooks may take
    bool overdrawn; // more was spent than there was
};

struct Slices {
    enum SlicePhase phase;
    bool all;          // the next one arms hot functions for a second's hits
    double due_s;      // when the next one begins
    double begun_s;    // when the newest began,
    double ends_s;     // ... and is to end
    double length_s;   // of the next one
    double interval_s; // from the newest one's end to the next
    double spent_s;    // the reading's when the newest began
    unsigned count;    // that began
    uint32_t random;   // state of the generator that moves `due_s`
};

// The first one begins: code that is adopted until it ends is armed.
void Slices_init(struct Slices *slices, double now_s);
enum SlicePhase Slices_step(struct Slices *slices,
                            const struct SlicesReading *reading);
// All are armed that are to be, and all spans are closed.
void Slices_armed(struct Slices *slices, double now_s);
void Slices_ended(struct Slices *slices, const struct SlicesReading *reading);
// s of CPU time that a slice may cost, if all hooks may take `rate` s a second.
double Slices_means(double rate);
// Somebody wants all functions armed: the next one begins at once.
void Slices_hurry(struct Slices *slices);

#endif
