// SPDX-License-Identifier: MIT
// Adds a pending call to an interpreter without PEP 768 (CPython 3.12 and
// 3.13). Ocular does the same as Py_AddPendingCall(). A thread makes a pending
// call between two instructions. request.c calls these functions while the
// process is stopped.
#pragma once

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// Asks the main thread to run the script. If `all` is true, asks all threads of
// the main interpreter, and one of them runs the script. Returns 0, -EAGAIN if
// other calls are pending or if a thread is adding a call, or another -errno.
// `why` has the reason for an error.
int Pending_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size);
// Withdraws a pending call that no thread has made yet.
void Pending_withdraw(const struct Interpreter *interpreter);
