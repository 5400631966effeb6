// SPDX-License-Identifier: MIT
// Numbers and lines as the report writes them; pure functions.
#ifndef OCULAR_TRACER_SESSION_FIGURE_H
#define OCULAR_TRACER_SESSION_FIGURE_H

#include "ipc/base/bytes.h"

struct Figure {
    char text[32];
};

// Writes a number, from 100 000 on with k, M, G... A number with a prefix of
// ">=" is rounded down, since it is a lower bound; others are rounded to the
// nearest.
struct Figure Figure_number(const char *prefix, double value);
struct Figure Figure_cycles(double cycles); // empty if `cycles` is NaN
struct Figure Figure_time(double s);
struct Figure Figure_bytes(double bytes); // kB, MB, GB are powers of ten

// Prints into a buffer as printf() does. Bytes beyond 4095 are cut.
__attribute__((format(printf, 2, 3))) void
Figure_print(struct Bytes *out, const char *format, ...);

#endif
