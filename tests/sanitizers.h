// SPDX-License-Identifier: MIT
// Says whether a sanitizer or valgrind is in use, because some tests behave
// differently under these tools.
#pragma once

#include <stdlib.h>

// The script tests/run_units sets this environment variable.
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

// A tenth of a number of rounds if there is a sanitizer. A sanitizer finds
// errors in few rounds.
#define FEWER(count) (UNDER_ASAN || UNDER_TSAN ? (count) / 10 : (count))

// At a fork, another thread can hold a lock of the sanitizer (in its allocator
// or its list of threads). This lock stays locked in the child, and the child
// hangs at its next malloc or at its next thread. So under a sanitizer no other
// thread may work during a fork.
#define FORKS_ALONE (UNDER_ASAN || UNDER_TSAN)
