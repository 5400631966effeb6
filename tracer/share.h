// SPDX-License-Identifier: MIT
// Time credited by the sampler to one function or thread: since the start, and
// in an exponential window of SHARE_WINDOW seconds. The sampler writes, anyone
// reads (values may be one sample apart).
#ifndef OCULAR_TRACER_SHARE_H
#define OCULAR_TRACER_SHARE_H

#include "tracer/cell.h"

#define SHARE_WINDOW 5.0 // s

struct ShareValue {
    cell_t total_ns;
    cell_t window_ns; // a double's bits, decayed to `window_at`
    cell_t window_at; // ns since the sampler started, a double's bits
};

struct Share {
    struct ShareValue cpu;   // running
    struct ShareValue wait;  // in the function, off the CPU
    struct ShareValue under; // running or waiting in it or what it called
    cell_t samples;          // with the function on top
};

// Credits `ns` at time `now` (both ns, now since the sampler's start).
void ShareValue_add(struct ShareValue *value, double now, double ns);
// Fraction of one core's wall time in the window that ends now.
double ShareValue_window(const struct ShareValue *value, double now);
// The same since the start.
double ShareValue_total(const struct ShareValue *value, double now);

#endif
