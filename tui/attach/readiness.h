// SPDX-License-Identifier: MIT
// Checks whether an interpreter is ready for a script. An interpreter is ready
// if it is initialised, has imported `site`, and is not about to end. If the
// interpreter is not ready, a script can crash the program. Readiness_check
// does not change the process. request.c calls Readiness_check while the
// process is stopped.
#pragma once

#include "tui/attach/interpreter.h"

#include <stddef.h>

// Returns 0, or -EINPROGRESS with the reason in `why` if the interpreter is not
// ready.
int Readiness_check(const struct Interpreter *interpreter, char *why,
                    size_t why_size);
