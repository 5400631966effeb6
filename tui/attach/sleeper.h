// SPDX-License-Identifier: MIT
// Has a program run the script that comes to no Python code of its own: one of
// its threads that sleep is made to start a thread, which runs it. The sleeping
// one has let go of the interpreter's lock and waits in the kernel, where no
// lock of C's (malloc's, the loader's) is held, and sleeps on: it does not wait
// for the interpreter. Called by request.c while the process is stopped.
#ifndef OCULAR_TUI_ATTACH_SLEEPER_H
#define OCULAR_TUI_ATTACH_SLEEPER_H

#include "tui/attach/interpreter.h"
#include "tui/attach/stop.h"

// 0: a thread has been started, and runs it as soon as it has the interpreter's
// lock. -ENOENT: none sleeps so; or -errno.
int Sleeper_run(const struct Interpreter *interpreter, struct Stop *stop,
                const char *script);

#endif
