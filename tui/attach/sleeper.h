// SPDX-License-Identifier: MIT
// Runs the script in a program of which all threads sleep. The attaching
// program makes a sleeping thread start a new thread, and the new thread runs
// the script. The sleeping thread has released the GIL and waits in the kernel,
// so it holds no lock of the C library, such as malloc's lock. After it has
// started the new thread, the sleeping thread sleeps again, and does not wait
// for the GIL. request.c calls Sleeper_run while the process is stopped.
#pragma once

#include "tui/attach/interpreter.h"
#include "tui/attach/stop.h"

// Returns 0 if the new thread has been started. The new thread runs the script
// as soon as it holds the GIL. Returns -ENOENT if no thread sleeps in a
// suitable call, or another -errno.
int Sleeper_run(const struct Interpreter *interpreter, struct Stop *stop,
                const char *script);
