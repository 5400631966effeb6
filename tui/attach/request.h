// SPDX-License-Identifier: MIT
// Asks a process to run a script between two instructions of its Python code.
// From CPython 3.14 on, the request uses PEP 768 (door.h). In older versions,
// the request is a pending call (pending.h).
#pragma once

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// `script` is a path below the process's root directory. Returns 0,
// -EINPROGRESS if the interpreter is not ready (readiness.h) or the process has
// run exec, or another -errno. `why` has the reason for an error. After an
// error some threads may still have the request, so the caller must call
// Request_withdraw.
int Request_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size);
// Makes a sleeping thread of the process start a new thread for the script
// (sleeper.h). Returns 0, or -errno if no thread sleeps in a suitable call.
int Request_wake(const struct Interpreter *interpreter, const char *script);
// Withdraws a request if no thread has seen it yet. Returns 0 or -errno.
int Request_withdraw(const struct Interpreter *interpreter);
// Checks that the interpreter is ready. If `filters` is true, also checks that
// no seccomp filter would kill the process when Ocular makes a system call.
// Returns 0, -EINPROGRESS if the interpreter is not ready, or another -errno.
// `why` has the reason for an error. The process is stopped for a moment.
int Request_check(const struct Interpreter *interpreter, bool filters,
                  char *why, size_t why_size);
