// SPDX-License-Identifier: MIT
// See wait_choice.h.
#include "tracer/sample/wait_choice.h"
#include "tracer/base/random.h"

#include <math.h>

// Shortest wait that is always recorded, in ns. A recording stores waits in ms.
#define LEAST_NS 10e6
// If a step had longer waits than the steps after it, `expected_ns` falls by
// this factor in each step.
#define FALL 0.8

void WaitChoice_begin(struct WaitChoice *choice)
{
    choice->expected_ns = fmax(choice->sum_ns, FALL * choice->expected_ns);
    choice->sum_ns = 0;
}

double WaitChoice_factor(struct WaitChoice *choice, double *carried_ns,
                         double ns)
{
    double sum, always, factor;

    choice->sum_ns += ns;
    // The first step has no earlier step, so its own waits count.
    sum = fmax(choice->expected_ns, choice->sum_ns);
    always = fmax(sum / WAIT_CHOICE_STEP, LEAST_NS);
    *carried_ns += ns;
    if (Random_next(&choice->random) * 0x1p-24 >= ns / always)
        return 0;
    factor = *carried_ns / ns;
    *carried_ns = 0;
    return factor;
}
