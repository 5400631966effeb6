// SPDX-License-Identifier: MIT
// The addresses of our own code: the part of this file that is mapped to be
// run. For signal handlers, which ask whether they have interrupted our code.
#ifndef OCULAR_TRACER_BASE_OWN_TEXT_H
#define OCULAR_TRACER_BASE_OWN_TEXT_H

#include <stdbool.h>
#include <stdint.h>

// Finds it. Before a handler that asks; any thread.
void OwnText_find(void);
bool OwnText_holds(uintptr_t address); // async-signal-safe

#endif
