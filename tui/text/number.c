// SPDX-License-Identifier: MIT
#include "tui/text/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *null(char out[NUMBER_MAX])
{
    return strcpy(out, "-");
}

// Writes at least two significant digits: 1.2k, 12k, 310k. If rounding gives
// four digits, the next unit is used. If `fine` is true, values in the basic
// unit also get a decimal place.
static const char *scaled(char out[NUMBER_MAX], double value,
                          const char *const *units, int fine)
{
    if (!isfinite(value))
        return null(out);
    const char *sign = value < 0 ? "-" : "";
    double size = fabs(value);
    int unit = 0;
    while (size >= 999.5 && units[unit + 1]) {
        size /= 1000;
        unit++;
    }
    int decimals = size < 9.95 && (unit > 0 || fine);
    if (unit == 0 && size == floor(size))
        decimals = 0;
    if (decimals == 0 && size < 0.5)
        sign = "";
    snprintf(out, NUMBER_MAX, "%s%.*f%s", sign, decimals, size, units[unit]);
    return out;
}

static const char *const counts[] = {"", "k", "M", "G", "T", "P", "E", NULL};

const char *Number_count(char out[NUMBER_MAX], double value)
{
    return scaled(out, value, counts, 0);
}

const char *Number_rate(char out[NUMBER_MAX], double value)
{
    return scaled(out, value, counts, 1);
}

const char *Number_ns(char out[NUMBER_MAX], double ns)
{
    static const char *const units[] = {"ns", "\u00B5s", "ms", "s", NULL};
    if (ns >= 999.5e9)
        return Number_age(out, ns / 1e9);
    return scaled(out, ns, units, 1);
}

const char *Number_percent(char out[NUMBER_MAX], double share)
{
    if (!isfinite(share))
        return null(out);
    double percent = share * 100;
    if (fabs(percent) >= 9999.5)
        return strcpy(out, percent < 0 ? "<-9999%" : ">9999%");
    snprintf(out, NUMBER_MAX, "%.*f%%", fabs(percent) < 99.95, percent);
    return out;
}

const char *Number_age(char out[NUMBER_MAX], double seconds)
{
    if (!isfinite(seconds))
        return null(out);
    if (seconds < 1)
        return strcpy(out, "now");
    if (seconds < 99.5)
        snprintf(out, NUMBER_MAX, "%.0fs", seconds);
    else if (seconds < 99.5 * 60)
        snprintf(out, NUMBER_MAX, "%.0fm", seconds / 60);
    else if (seconds < 47.5 * 3600)
        snprintf(out, NUMBER_MAX, "%.0fh", seconds / 3600);
    else if (seconds < 999.5 * 86400)
        snprintf(out, NUMBER_MAX, "%.0fd", seconds / 86400);
    else
        snprintf(out, NUMBER_MAX, "%.0fy", fmin(seconds / 31557600, 999));
    return out;
}

const char *Number_uptime(char out[NUMBER_MAX], double seconds)
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e15)
        return null(out);
    long long all = (long long)seconds;
    int days = (int)(all / 86400);
    int hours = (int)(all / 3600 % 24), minutes = (int)(all / 60 % 60);
    int rest = (int)(all % 60);
    if (days)
        snprintf(out, NUMBER_MAX, "%dd %02d:%02d:%02d", days, hours, minutes,
                 rest);
    else
        snprintf(out, NUMBER_MAX, "%d:%02d:%02d", hours, minutes, rest);
    return out;
}

const char *Number_seconds(char out[NUMBER_MAX], double seconds)
{
    if (!isfinite(seconds))
        return null(out);
    snprintf(out, NUMBER_MAX, "%.*fs", seconds < 9.95, seconds);
    return out;
}

const char *Number_bytes(char out[NUMBER_MAX], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
    if (!isfinite(bytes))
        return null(out);
    int unit = 0;
    while (bytes >= 1023.95 && units[unit + 1]) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, NUMBER_MAX, "%.*f %s", unit > 0, bytes, units[unit]);
    return out;
}

const char *Number_grouped(char out[NUMBER_MAX], uint64_t value)
{
    char digits[NUMBER_MAX];
    int count =
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    if (value == UINT64_MAX)
        return null(out);
    int used = 0;
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            out[used++] = ' ';
        out[used++] = digits[i];
    }
    out[used] = 0;
    return out;
}
