// SPDX-License-Identifier: MIT
// Finds an Ocular that another process's Python can import. Called by
// attach.c.
#ifndef OCULAR_TUI_ATTACH_PACKAGE_H
#define OCULAR_TUI_ATTACH_PACKAGE_H

#include "tui/attach/interpreter.h"

#include <limits.h>

// The folder that holds ocular/ for that minor version, as the process sees
// it: `wanted` (or NULL), else one beside this program. "" if the process can
// read none.
void Package_find(const struct Interpreter *interpreter, const char *wanted,
                  char folder[PATH_MAX]);

#endif
