// SPDX-License-Identifier: MIT
// Holds the range of addresses of Ocular's own machine code. The range is one
// segment of the shared library that contains own_text.c. A signal handler uses
// the range to find out whether it interrupted Ocular's own code.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Finds the addresses of Ocular's own machine code. OwnText_find must be called
// before any signal handler is installed that needs the addresses. Any thread
// may call OwnText_find.
void OwnText_find(void);
bool OwnText_holds(uintptr_t address); // OwnText_holds is async-signal-safe.
