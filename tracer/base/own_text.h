// SPDX-License-Identifier: MIT
// Holds the range of addresses of our own machine code. This range is one
// segment of this shared library. A signal handler uses the range to find out
// whether it interrupted our own code.
#ifndef OCULAR_TRACER_BASE_OWN_TEXT_H
#define OCULAR_TRACER_BASE_OWN_TEXT_H

#include <stdbool.h>
#include <stdint.h>

// Finds the addresses. OwnText_find must be called before a handler that needs
// the addresses is installed. Any thread may call this function.
void OwnText_find(void);
bool OwnText_holds(uintptr_t address); // async-signal-safe

#endif
