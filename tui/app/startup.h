// SPDX-License-Identifier: MIT
// Finds the socket of a process by its number, and waits for a process that has
// just begun: `python -m ocular --serve app.py & ocular-top --pid $!`. Called
// by main, before there is a screen.
#ifndef OCULAR_TUI_APP_STARTUP_H
#define OCULAR_TUI_APP_STARTUP_H

#include "ipc/address.h"

#include <stdbool.h>
#include <stdio.h>

#define STARTUP_PATIENCE_S 5

// Is a process that does not serve yet likely to serve soon? Yes if it is
// young, or was started with --serve. `age_s`: NaN where it is not known.
bool Startup_is_likely(double age_s, const char *command);

// As Address_find. If a process is likely to serve soon, this tries again
// for `patience_s`, and first says so on `say`, in one line.
int Startup_find(struct Served *found, pid_t pid, double patience_s, FILE *say,
                 char *why, size_t why_size);

#endif
