// SPDX-License-Identifier: MIT
// The interpreter's own door for a debugger, PEP 768 (CPython 3.14 and newer):
// the name of a script, and a flag that a thread sees between two instructions.
// Called by request.c while the process is stopped.
#ifndef OCULAR_TUI_ATTACH_DOOR_H
#define OCULAR_TUI_ATTACH_DOOR_H

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// Has the main thread run the script, or, with `all`, whichever of the main
// interpreter's threads is first. 0, or -errno with `why`; -EACCES: the program
// has closed the door.
int Door_ask(const struct Interpreter *interpreter, const char *script,
             bool all, char *why, size_t why_size);
// Takes back a request that the process has not seen yet, also one of a killed
// viewer.
void Door_withdraw(const struct Interpreter *interpreter);

#endif
