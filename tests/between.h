// SPDX-License-Identifier: MIT
// assert_between(), for tests, after <cmocka.h>: what cmocka's own assert of
// that kind does, which has another name and a warning from version 2 on.
#ifndef OCULAR_TESTS_BETWEEN_H
#define OCULAR_TESTS_BETWEEN_H

#include <stdint.h>

// Fails unless least <= value <= most; all three are taken as unsigned.
#define assert_between(value, least, most)                                     \
    do {                                                                       \
        uintmax_t value_ = (uintmax_t)(value);                                 \
        uintmax_t least_ = (uintmax_t)(least), most_ = (uintmax_t)(most);      \
                                                                               \
        if (value_ < least_ || value_ > most_)                                 \
            fail_msg("%s is %ju, and not from %ju to %ju", #value, value_,     \
                     least_, most_);                                           \
    } while (0)

#endif
