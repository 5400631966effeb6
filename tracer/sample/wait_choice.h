// SPDX-License-Identifier: MIT
// Chooses which waits are recorded, so that a recording grows by only a few
// waits a second, however many threads wait. A wait is recorded with a
// probability in proportion to its length, and is multiplied by the inverse of
// the probability. So the sum of all recorded waits is right in the mean, even
// if threads live only for a short time. Only the sampler's thread uses a
// struct WaitChoice.
#pragma once

#include <stdint.h>

// Number of waits that a step of the observer records in the mean, if no wait
// is long.
#define WAIT_CHOICE_STEP 8

struct WaitChoice { // All bytes 0 is a valid state.
    double sum_ns;  // Sum of the waits of this step.
    // Sum of the waits of a step, as the newest steps show it.
    double expected_ns;
    double count, expected_count; // Waits of this step and of the last step.
    uint32_t random;              // State of the random generator that chooses.
};

// Begins a step of the observer.
void WaitChoice_begin(struct WaitChoice *choice);
// Returns the factor by which a wait of `ns` is multiplied if it is recorded,
// or 0 if the wait is not recorded. `most_ns` is the largest of the wait's
// weights, which are multiplied, too.
double WaitChoice_factor(struct WaitChoice *choice, double ns, double most_ns);
