// SPDX-License-Identifier: MIT
// The interpreter's interface for debuggers, PEP 768 (CPython 3.14 and newer).
// The debugger writes a script's path and a flag, which a thread checks between
// two instructions. Called by request.c while the process is stopped.
#ifndef OCULAR_TUI_ATTACH_DOOR_H
#define OCULAR_TUI_ATTACH_DOOR_H

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// Asks the main thread to run the script. With `all`, asks every thread of the
// main interpreter, and the first one runs it. Returns 0, or -errno with the
// reason in `why`; -EACCES if the program has disabled remote debugging.
int Door_ask(const struct Interpreter *interpreter, const char *script,
             bool all, char *why, size_t why_size);
// Withdraws every request of an ocular-top that the process has not seen yet,
// including the request of a viewer that was killed.
void Door_withdraw(const struct Interpreter *interpreter);

#endif
