// SPDX-License-Identifier: MIT
// Is an interpreter ready for a script: initialised, with its `site` imported,
// and not about to end? A script that runs earlier or later may kill the
// program. Called by request.c while the process is stopped; changes nothing.
#ifndef OCULAR_TUI_ATTACH_READINESS_H
#define OCULAR_TUI_ATTACH_READINESS_H

#include "tui/attach/interpreter.h"

#include <stddef.h>

// 0, or -EINPROGRESS with `why`: not now.
int Readiness_check(const struct Interpreter *interpreter, char *why,
                    size_t why_size);

#endif
