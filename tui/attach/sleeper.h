// SPDX-License-Identifier: MIT
// Runs the script in a program in which all threads sleep. ocular-top makes a
// sleeping thread start a new thread, which runs the script. The sleeping
// thread waits in the kernel without the GIL, so it holds no lock of the C
// library, such as malloc's lock. After it has started the new thread, it
// sleeps again without waiting for the GIL. request.c calls Sleeper_run while
// the process is stopped.
#pragma once

#include "tui/attach/interpreter.h"
#include "tui/attach/stop.h"

// Returns 0 if the new thread has been started. The new thread runs the script
// as soon as it gets the GIL. Returns -ENOENT if no thread sleeps in a suitable
// call, or another -errno.
int Sleeper_run(const struct Interpreter *interpreter, struct Stop *stop,
                const char *script);
