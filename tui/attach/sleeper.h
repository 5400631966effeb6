// SPDX-License-Identifier: MIT
// Runs the script in a program that executes no Python code at present. The
// attaching program makes one of the sleeping threads start a new thread, which
// runs the script. The sleeping thread has released the GIL and waits in the
// kernel, so it holds no lock of the C library such as malloc's. After the
// start of the new thread, the sleeping thread continues to sleep and does not
// wait for the GIL. Called by request.c while the process is stopped.
#ifndef OCULAR_TUI_ATTACH_SLEEPER_H
#define OCULAR_TUI_ATTACH_SLEEPER_H

#include "tui/attach/interpreter.h"
#include "tui/attach/stop.h"

// Returns 0 if a thread has been started; this thread runs the script as soon
// as it has the GIL. Returns -ENOENT if no thread sleeps in a suitable call, or
// another -errno.
int Sleeper_run(const struct Interpreter *interpreter, struct Stop *stop,
                const char *script);

#endif
