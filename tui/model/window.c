// SPDX-License-Identifier: MIT
#include "tui/model/window.h"

#include <math.h>
#include <stdio.h>

#define LEAST 1e-4 // The smallest share that is shown as a number.

struct Window Window_unknown(void)
{
    return (struct Window){NAN, NAN, NAN};
}

struct Window Window_of(const struct Snapshot *snapshot, double cpu_share)
{
    double sum = 0;
    for (size_t i = 0; i < snapshot->function_count; i++)
        if (isfinite(snapshot->functions[i].cpu_share))
            sum += snapshot->functions[i].cpu_share;
    // The whole share is the larger one of `cpu_share` and the sum over the
    // functions. `cpu_share` can be larger, because it contains code that is
    // not traced. The sum can be larger, because it contains threads that have
    // ended.
    double all = fmax(cpu_share, sum);
    double samples = snapshot->sampler_window_samples;
    return (struct Window){
        .s = snapshot->sampler_window_s,
        .samples = samples,
        // A program that only waits has no sample, but its TOTAL% is known.
        .per_share = all > 0 && samples >= WINDOW_LEAST ? samples / all : NAN,
    };
}

double Window_samples(const struct Window *window, double share)
{
    return share > 0 ? share * window->per_share : share;
}

enum Basis Window_basis(const struct Window *window, double share)
{
    double samples = Window_samples(window, share);
    if (!(share > 0) || samples < WINDOW_LEAST)
        return BASIS_NONE;
    if (samples < 1)
        return BASIS_TRACE;
    return samples < WINDOW_FEW ? BASIS_FEW : BASIS_FINE;
}

// --- As text

static double power_below(double value)
{
    return pow(10, floor(log10(value) + 1e-9));
}

double Window_one_digit(double value)
{
    double power = value > 0 ? power_below(value) : 1;
    return round(value / power) * power;
}

static void put_digit(char out[NUMBER_MAX], const char *mark, double share)
{
    double percent = share * 100;
    int decimals = percent < .095 ? 2 : percent < .95 ? 1 : 0;
    snprintf(out, NUMBER_MAX, "%s%.*f%%", mark, decimals, percent);
}

const char *Window_plain_share(char out[NUMBER_MAX], double share)
{
    out[0] = 0;
    if (!(fabs(share) > 0))
        return out;
    if (fabs(share) >= .001 - 1e-9)
        return Number_percent(out, share);
    if (fabs(share) < LEAST)
        put_digit(out, share < 0 ? ">-" : "<", LEAST);
    else
        put_digit(out, "", share);
    return out;
}

// Writes a limit such as "<0.3%" for a share. The limit is rounded up, so that
// the share is never above the written limit.
static void put_limit(char out[NUMBER_MAX], double limit)
{
    double power = power_below(limit);
    limit = ceil(limit / power - 1e-9) * power;
    put_digit(out, "<", fmin(fmax(limit, LEAST), 1));
}

enum Basis Window_share(char out[NUMBER_MAX], const struct Window *window,
                        double share)
{
    enum Basis basis = Window_basis(window, share);
    out[0] = 0;
    if (basis == BASIS_TRACE)
        put_limit(out, 1 / window->per_share);
    else if (basis == BASIS_FEW && share >= LEAST)
        put_digit(out, "", Window_one_digit(share));
    else if (basis != BASIS_NONE)
        Window_plain_share(out, share);
    return basis;
}

const char *Window_text(char out[WINDOW_TEXT], const struct Window *window)
{
    char number[NUMBER_MAX];
    double count = round(window->samples);
    out[0] = 0;
    if (!isfinite(window->s) || !isfinite(count) || count < 0 || count > 1e15)
        return out;
    Number_grouped(number, (uint64_t)count);
    snprintf(out, WINDOW_TEXT, "%.0f s, %s sample%s", fmin(window->s, 1e9),
             number, count == 1 ? "" : "s");
    return out;
}
