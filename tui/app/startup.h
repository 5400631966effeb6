// SPDX-License-Identifier: MIT
// Finds the socket of a process by its number, and waits for a process that is
// still coming up: `python -m ocular --serve app.py & ocular-top --pid $!`.
// Used by main, before there is a screen.
#ifndef OCULAR_TUI_APP_STARTUP_H
#define OCULAR_TUI_APP_STARTUP_H

#include "ipc/address.h"

#include <stdbool.h>
#include <stdio.h>

#define STARTUP_PATIENCE_S 5

// A process that does not serve yet: may it be about to? It is young, or was
// started to be served. `age_s` is NAN where nobody knows it.
bool Startup_is_likely(double age_s, const char *command);

// As Address_find. Where a process is likely to serve soon, this looks again
// for `patience_s`, and says so on `say` first, in one line.
int Startup_find(struct Served *found, pid_t pid, double patience_s, FILE *say,
                 char *why, size_t why_size);

#endif
