// SPDX-License-Identifier: MIT
// A pending call for an interpreter without a door (CPython 3.12 and 3.13): the
// call that Py_AddPendingCall() would add, which a thread makes between two
// instructions. Called by request.c while the process is stopped.
#ifndef OCULAR_TUI_ATTACH_PENDING_H
#define OCULAR_TUI_ATTACH_PENDING_H

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// Has the main thread run the script, or, with `all`, whichever thread of the
// main interpreter is first. 0, -EAGAIN: other calls wait, or a thread is
// adding one, or -errno; `why` says so.
int Pending_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size);
// Takes back a call that has not been made yet.
void Pending_withdraw(const struct Interpreter *interpreter);

#endif
