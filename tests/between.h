// SPDX-License-Identifier: MIT
// Defines assert_between() for tests that have included <cmocka.h>. From
// version 2 on, cmocka's own assertion has another name, and the old name
// causes a warning.
#pragma once

#include <stdint.h>

// Fails unless least <= value <= most. The three values are compared as
// unsigned numbers.
#define assert_between(value, least, most)                                     \
    do {                                                                       \
        uintmax_t value_ = (uintmax_t)(value);                                 \
        uintmax_t least_ = (uintmax_t)(least), most_ = (uintmax_t)(most);      \
                                                                               \
        if (value_ < least_ || value_ > most_)                                 \
            fail_msg("%s is %ju, and not from %ju to %ju", #value, value_,     \
                     least_, most_);                                           \
    } while (0)
