// SPDX-License-Identifier: MIT
// Numbers as the report writes them, and its lines. Pure.
#ifndef OCULAR_TRACER_SESSION_FIGURE_H
#define OCULAR_TRACER_SESSION_FIGURE_H

#include "ipc/base/bytes.h"

struct Figure {
    char text[32];
};

// With k, M, G... from 100 000 on. A prefix of ">=" says that the value is a
// floor: it is rounded down, all else to the nearest.
struct Figure Figure_number(const char *prefix, double value);
struct Figure Figure_cycles(double cycles); // empty if they are NaN
struct Figure Figure_time(double s);
struct Figure Figure_bytes(double bytes); // kB, MB, GB: powers of ten

// printf to a buffer: at most 4095 bytes, the rest is cut.
__attribute__((format(printf, 2, 3))) void
Figure_print(struct Bytes *out, const char *format, ...);

#endif
