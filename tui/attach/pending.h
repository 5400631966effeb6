// SPDX-License-Identifier: MIT
// A pending call for an interpreter without PEP 768 (CPython 3.12 and 3.13).
// The call is the same as one that Py_AddPendingCall() adds: a thread makes it
// between two instructions. Called by request.c while the process is stopped.
#ifndef OCULAR_TUI_ATTACH_PENDING_H
#define OCULAR_TUI_ATTACH_PENDING_H

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// Asks the main thread to run the script. With `all`, any thread of the main
// interpreter may run it. Returns 0; -EAGAIN if other calls are pending or a
// thread is adding one; or another -errno. `why` has the reason for an error.
int Pending_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size);
// Withdraws a call that no thread has made yet.
void Pending_withdraw(const struct Interpreter *interpreter);

#endif
