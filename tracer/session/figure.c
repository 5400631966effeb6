// SPDX-License-Identifier: MIT
#include "tracer/session/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct Figure Figure_number(const char *prefix, double value)
{
    static const char units[] = " kMGTPE";
    struct Figure result;
    unsigned unit = 0;
    int decimals;

    while (value >= (unit ? 999.5 : 99999.5) && unit < sizeof units - 2) {
        value /= 1000;
        unit++;
    }
    decimals = unit && value < 99.95;
    if (*prefix == '>')
        value = decimals ? (double)(uint64_t)(value * 10) / 10
                         : (double)(uint64_t)value;
    snprintf(result.text, sizeof result.text, "%s%.*f%.*s", prefix, decimals,
             value, unit ? 1 : 0, units + unit);
    return result;
}

struct Figure Figure_cycles(double cycles)
{
    struct Figure result = {""};

    if (cycles < 9.95)
        snprintf(result.text, sizeof result.text, "~%.1f", cycles);
    else if (!isnan(cycles))
        result = Figure_number("~", cycles);
    return result;
}

struct Figure Figure_time(double s)
{
    struct Figure result;

    if (s < 9.9995e-7)
        snprintf(result.text, sizeof result.text, "%.0f ns", s * 1e9);
    else if (s < 9.9995e-4)
        snprintf(result.text, sizeof result.text, "%.1f us", s * 1e6);
    else if (s < 0.99995)
        snprintf(result.text, sizeof result.text, "%.1f ms", s * 1e3);
    else
        snprintf(result.text, sizeof result.text, "%.1f s", s);
    return result;
}

struct Figure Figure_bytes(double bytes)
{
    struct Figure result;

    if (bytes < 999.5)
        snprintf(result.text, sizeof result.text, "%.0f bytes", bytes);
    else if (bytes < 999.95e3)
        snprintf(result.text, sizeof result.text, "%.1f kB", bytes / 1e3);
    else if (bytes < 999.95e6)
        snprintf(result.text, sizeof result.text, "%.1f MB", bytes / 1e6);
    else
        snprintf(result.text, sizeof result.text, "%.1f GB", bytes / 1e9);
    return result;
}

void Figure_print(struct Bytes *out, const char *format, ...)
{
    char line[4096];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size > 0)
        Bytes_put(out, line,
                  (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}
