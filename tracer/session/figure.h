// SPDX-License-Identifier: MIT
// Formats numbers and lines for the report. The functions of figure.h only use
// their arguments.
#pragma once

#include "ipc/base/bytes.h"

struct Figure {
    char text[32];
};

// Formats a number. Numbers from 100 000 on are written with k, M, G... If
// `prefix` is ">=", the number is a lower bound and is rounded down. All other
// numbers are rounded to the nearest number of their unit.
struct Figure Figure_number(const char *prefix, double value);
// Formats a number of cycles. Returns an empty text if `cycles` is NaN.
struct Figure Figure_cycles(double cycles);
struct Figure Figure_time(double s);
// Formats a number of bytes. kB, MB and GB are powers of ten.
struct Figure Figure_bytes(double bytes);

// Prints into a buffer as printf() does. Text after 4095 bytes is cut off.
__attribute__((format(printf, 2, 3))) void
Figure_print(struct Bytes *out, const char *format, ...);
