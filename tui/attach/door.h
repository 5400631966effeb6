// SPDX-License-Identifier: MIT
// Attaches by the interpreter's own interface for debuggers, PEP 768 (CPython
// 3.14 and newer). The debugger writes a script's path and a flag into the
// state of a thread. The thread checks this flag between two instructions.
// request.c calls these functions while the process is stopped.
#pragma once

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// Asks the main thread to run the script. If `all` is true, asks every thread
// of the main interpreter. The first thread that sees its flag runs the script.
// Returns 0, or -errno with the reason in `why`. -EACCES means that the program
// has disabled remote debugging.
int Door_ask(const struct Interpreter *interpreter, const char *script,
             bool all, char *why, size_t why_size);
// Withdraws every request that no thread has taken yet, also a request of an
// ocular-top that was killed.
void Door_withdraw(const struct Interpreter *interpreter);
