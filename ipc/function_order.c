// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // qsort_r
#include "ipc/function_order.h"

#include <stdlib.h>

// tui/model/row_order.c uses the same order and the same definition of an idle
// function (Row_is_idle).
#define IDLE_S 60.0 // Seconds without a call after which a function is idle.
// A function is idle if it was on the stack for a smaller part of the time than
// IDLE_SHARE.
#define IDLE_SHARE 0.0005
// The weight of a sample decays with its age. A sample counts as long as its
// weight is above LEAST_SAMPLES.
#define LEAST_SAMPLES 0.25

// Compares two numbers. The larger number comes first, and null counts as 0.
static int larger_first(uint64_t a, uint64_t b)
{
    a = a == NULL_U64 ? 0 : a;
    b = b == NULL_U64 ? 0 : b;
    return (a < b) - (a > b);
}

static int more_first(double a, double b)
{
    a = isnan(a) ? 0 : a;
    b = isnan(b) ? 0 : b;
    return (a < b) - (a > b);
}

// Returns true if the function is idle. An idle function was not called in the
// last minute, and no sampled stack contains it.
static bool is_idle(const struct Function *f, double least)
{
    if (f->age_s <= IDLE_S)
        return false;
    // Without a sampler, only hooks can show whether a function runs.
    if (isnan(f->share))
        return f->state == STATE_ARMED;
    return f->share < least && !(f->total_share >= IDLE_SHARE);
}

// Compares two functions. A share that is smaller than *context counts as 0.
static int hotter_first(const void *left, const void *right, void *context)
{
    const struct Function *a = left, *b = right;
    double least = *(const double *)context;
    int order = is_idle(a, least) - is_idle(b, least);

    if (!order)
        order = more_first(a->share < least ? 0 : a->share,
                           b->share < least ? 0 : b->share);
    if (!order)
        order = more_first(a->calls_per_s * a->avg_cycles,
                           b->calls_per_s * b->avg_cycles);
    if (!order)
        order = larger_first(a->self_cycles, b->self_cycles);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

// Returns a limit for shares. A share below the limit comes from old samples
// only.
static double least_share(const struct Function *functions, size_t count,
                          double window_samples)
{
    double all = 0;

    if (!(window_samples > 0))
        return 0;
    for (size_t i = 0; i < count; i++)
        all += isnan(functions[i].cpu_share) ? 0 : functions[i].cpu_share;
    return LEAST_SAMPLES * all / window_samples;
}

void FunctionOrder_sort(struct Function *functions, size_t count,
                        double window_samples)
{
    double least = least_share(functions, count, window_samples);

    if (count) // glibc's qsort_r() does not allow NULL as the array.
        qsort_r(functions, count, sizeof *functions, hotter_first, &least);
}
