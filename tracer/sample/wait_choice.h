// SPDX-License-Identifier: MIT
// Chooses which waits are recorded, so that a recording grows by only a few
// waits a second, however many threads wait. The probability that a wait is
// recorded is in proportion to its length. The recorded wait is multiplied by
// the inverse of this probability. The sum of all recorded waits is thus right
// in the mean, even if threads live only for a short time. Only the sampler's
// thread uses a struct WaitChoice.
#pragma once

#include <stdint.h>

// Number of waits that a step of the observer records in the mean, if no wait
// is long.
#define WAIT_CHOICE_STEP 8

struct WaitChoice { // All fields are 0 at first.
    double sum_ns;  // Sum of the ns of waits in this step.
    // Expected ns of waits in a step, from the newest steps.
    double expected_ns;
    // Number of waits in this step, and in the last step.
    double count, expected_count;
    uint32_t random; // State of the random generator.
};

// Begins a step of the observer.
void WaitChoice_begin(struct WaitChoice *choice);
// Chooses whether a wait of `ns` is recorded. Returns the factor by which a
// recorded wait is multiplied, or 0 if the wait is not recorded. The wait's
// weights are multiplied by the same factor, and `most_ns` is the largest of
// them.
double WaitChoice_factor(struct WaitChoice *choice, double ns, double most_ns);
