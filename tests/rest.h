// SPDX-License-Identifier: MIT
// Lets a thread sleep, for tests that wait until another thread has done
// something.
#pragma once

#include <time.h>

static inline void rest_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}
