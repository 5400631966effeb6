// SPDX-License-Identifier: MIT
// Finds an Ocular that the Python of another process can import. Called by
// attach.c.
#ifndef OCULAR_TUI_ATTACH_PACKAGE_H
#define OCULAR_TUI_ATTACH_PACKAGE_H

#include "tui/attach/interpreter.h"

#include <limits.h>

// Sets `folder` to the folder with an ocular/ for the interpreter's minor
// version, as the process sees the path. `folder` becomes `wanted` if that fits
// (`wanted` may be NULL), else a folder near this program. Sets "" if the
// process can read neither.
void Package_find(const struct Interpreter *interpreter, const char *wanted,
                  char folder[PATH_MAX]);

#endif
