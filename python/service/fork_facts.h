// SPDX-License-Identifier: MIT
// Tells whether CPython is forking. fork.c asks at each fork.
#pragma once

#include <stdbool.h>

// Returns true if CPython has locked its list of threads, as os.fork() does
// just before the fork. Returns false with CPython 3.12, which does not lock
// the list. The calling thread has a thread state. No other thread should hold
// this lock for long, because a child could then never use the list.
bool ForkFacts_list_is_locked(void);
