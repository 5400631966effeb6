// SPDX-License-Identifier: MIT
// The median of a few figures that were measured. No state, any thread.
#ifndef OCULAR_PYTHON_HOOKS_MEDIAN_H
#define OCULAR_PYTHON_HOOKS_MEDIAN_H

#include <stddef.h>

// Sorts them; 0 where there are none.
double Median_of(double *values, size_t count);

#endif
