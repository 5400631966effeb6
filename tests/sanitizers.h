// SPDX-License-Identifier: MIT
// Which sanitizer a test is built with, or whether valgrind runs it, for the
// few that depend on it.
#ifndef OCULAR_TESTS_SANITIZERS_H
#define OCULAR_TESTS_SANITIZERS_H

#include <stdlib.h>

#define UNDER_VALGRIND (getenv("UNDER_VALGRIND") != NULL) // by tests/run_units

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

// Of many rounds, a tenth under a sanitizer: that looks for kinds of errors.
#define FEWER(count) (UNDER_ASAN || UNDER_TSAN ? (count) / 10 : (count))

// The same if the number need not be a constant, and under valgrind as well.
#define FEWER_ROUNDS(count) (UNDER_VALGRIND ? (count) / 10 : FEWER(count))

// Locks of a sanitizer's own (its allocator, its list of threads) that another
// thread holds at a fork stay locked in the child, which hangs at its next
// malloc or thread: no other thread may be at work there when one forks.
#define FORKS_ALONE (UNDER_ASAN || UNDER_TSAN)

#endif
