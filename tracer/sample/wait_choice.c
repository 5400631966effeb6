// SPDX-License-Identifier: MIT
#include "tracer/sample/wait_choice.h"
#include "tracer/base/random.h"

#include <math.h>

// ns. A wait of at least this length is always recorded if there are few waits.
// A recording stores waits in ms.
#define LEAST_NS 10e6
// ns. A recorded wait represents at most this time. A recording stores at most
// 131 s (SampleTrack). More waits are recorded if very many threads wait.
#define MOST_NS 130e9
// After a step of the observer with many waits, `expected_ns` falls by this
// factor in each step.
#define FALL 0.8

void WaitChoice_begin(struct WaitChoice *choice)
{
    choice->expected_ns = fmax(choice->sum_ns, FALL * choice->expected_ns);
    choice->expected_count = choice->count;
    choice->sum_ns = choice->count = 0;
}

double WaitChoice_factor(struct WaitChoice *choice, double ns, double most_ns)
{
    double sum, factor;

    choice->sum_ns += ns;
    choice->count++;
    // In the first step nothing is expected, so its own waits count.
    sum = fmax(choice->expected_ns, choice->sum_ns);
    // If there are few waits, all are recorded.
    if (fmax(choice->expected_count, choice->count) <= WAIT_CHOICE_STEP)
        sum = 0;
    factor = fmax(sum / WAIT_CHOICE_STEP, LEAST_NS) / ns;
    factor = fmax(fmin(factor, MOST_NS / fmax(ns, most_ns)), 1);
    return Random_next(&choice->random) * 0x1p-24 * factor < 1 ? factor : 0;
}
