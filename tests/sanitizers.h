// SPDX-License-Identifier: MIT
// Tells the few tests that depend on it which sanitizer they are built with, or
// that valgrind runs them.
#ifndef OCULAR_TESTS_SANITIZERS_H
#define OCULAR_TESTS_SANITIZERS_H

#include <stdlib.h>

// Tests/run_units sets this variable.
#define UNDER_VALGRIND (getenv("UNDER_VALGRIND") != NULL)

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

// Returns a tenth of a number of rounds under a sanitizer, which searches for
// kinds of errors and needs few rounds.
#define FEWER(count) (UNDER_ASAN || UNDER_TSAN ? (count) / 10 : (count))

// Does the same at run time, and under valgrind as well.
#define FEWER_ROUNDS(count) (UNDER_VALGRIND ? (count) / 10 : FEWER(count))

// If another thread holds a lock of the sanitizer at a fork (in its allocator
// or its list of threads), the lock stays locked in the child, which hangs at
// its next malloc or thread. So no other thread may work during such a fork.
#define FORKS_ALONE (UNDER_ASAN || UNDER_TSAN)

#endif
