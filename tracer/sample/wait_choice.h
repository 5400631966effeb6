// SPDX-License-Identifier: MIT
// Chooses which waits are recorded, so that a recording grows by only a few
// waits a second, however many threads wait. A wait that is not recorded is
// carried over to the next recorded wait of its thread. So the recorded waits
// of a thread have the right sum, and a wait is recorded with a probability in
// proportion to its length. Only the sampler's thread uses a struct WaitChoice.
#pragma once

#include <stdint.h>

// Number of waits that a step of the observer records in the mean, if no wait
// is long.
#define WAIT_CHOICE_STEP 8

struct WaitChoice { // All bytes 0 is a valid state.
    double sum_ns;  // Sum of the waits of this step.
    // Sum of the waits of a step, as the newest steps show it.
    double expected_ns;
    uint32_t random; // State of the random generator that chooses.
};

// Begins a step of the observer.
void WaitChoice_begin(struct WaitChoice *choice);
// Returns the factor by which a wait of `ns` is multiplied if it is recorded,
// or 0 if the wait is not recorded. *carried_ns has the waits of the thread
// that are not recorded yet, 0 in the beginning.
double WaitChoice_factor(struct WaitChoice *choice, double *carried_ns,
                         double ns);
