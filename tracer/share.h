// SPDX-License-Identifier: MIT
// Time credited by the sampler to one function or thread: since the start, and
// in an exponential window of SHARE_WINDOW seconds. The sampler writes, anyone
// reads (values may be one sample apart).
#ifndef OCULAR_TRACER_SHARE_H
#define OCULAR_TRACER_SHARE_H

#include "tracer/cell.h"

struct Split;

#define SHARE_WINDOW 5.0 // s

struct ShareValue {
    cell_t total_ns;
    cell_t window_ns; // a double's bits, decayed to `window_at`
    cell_t window_at; // ns since the sampler started, a double's bits
};

// All that the sampler knows of a function.
struct Share {
    struct ShareValue cpu;    // running
    struct ShareValue wait;   // in the function, off the CPU
    struct ShareValue queued; // of wait: for the interpreter or a CPU, which is
                              // nothing that a call takes
    struct ShareValue in_c;   // of cpu: at a call that has pushed no frame
    struct ShareValue under;  // running or waiting in it or what it called
    cell_t samples;           // with the function on top
    cell_t run_samples;       // of these: it had CPU time then
    // From its first sample on; published with release.
    struct Split *_Atomic callers;   // of `under`
    _Atomic uint32_t *_Atomic spots; // looks that found it running, by the
                                     // number of the instruction, and those
                                     // in C; see Code_spots
    uint32_t *callees;               // id that the instruction calls, as stacks
                                     // have shown; the sampler's alone
    cell_t bytes;                    // of these three
    uint32_t stamp; // the newest credit that met it; the sampler's alone
};

// One sample's credit, for many values: what its sums cost is paid once.
struct ShareCredit {
    double now;  // ns since the sampler's start
    double ns;   // that were earned, the newest of them now
    double gain; // of a window
    double at;   // a window as of then
    double kept; // ... has so much left
};

void ShareCredit_init(struct ShareCredit *credit, double now, double ns);
void ShareValue_credit(struct ShareValue *value, struct ShareCredit *credit);
// Takes over what is in the other's window, and in its total.
void ShareValue_join(struct ShareValue *value, const struct ShareValue *other,
                     double now);

// Credits `ns` at time `now` (both ns, now since the sampler's start).
void ShareValue_add(struct ShareValue *value, double now, double ns);
// Fraction of one core's wall time in the window that ends now.
double ShareValue_window(const struct ShareValue *value, double now);
// The same since the start.
double ShareValue_total(const struct ShareValue *value, double now);

#endif
