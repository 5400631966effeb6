// SPDX-License-Identifier: MIT
// Finds a package of Ocular that another process can import. attach.c calls
// Package_find.
#pragma once

#include "tui/attach/interpreter.h"

#include <limits.h>

// Sets `folder` to a folder that contains an ocular/ for the interpreter's
// minor version, as a path below the process's root directory. The first choice
// is the folder `wanted`, which can be NULL. The second choice is a folder near
// the program ocular-top. If the process cannot read either folder, `folder` is
// "".
void Package_find(const struct Interpreter *interpreter, const char *wanted,
                  char folder[PATH_MAX]);
