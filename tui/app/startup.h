// SPDX-License-Identifier: MIT
// Finds the socket of a process by its pid. If the process has just begun,
// waits until the process or one of its workers serves viewers, for example in
// `python -m ocular --serve app.py & ocular-top --pid $!`. main.c calls these
// functions before the screen is set up.
#pragma once

#include "ipc/address.h"

#include <stdbool.h>
#include <stdio.h>

#define STARTUP_PATIENCE_S 5

// Returns true if a process that does not serve viewers yet will probably do so
// soon, because it is young or was started with --serve. `age_s` is NaN if the
// age is not known.
bool Startup_is_likely(double age_s, const char *command);

struct StartupRequest {
    pid_t pid;
    // True if it is enough that a worker of the process serves viewers.
    bool workers;
    double patience_s;
    FILE *say;
};

// Returns what Address_find returns. If the process will probably serve viewers
// soon, first writes a line to `say`, and then tries again for `patience_s`
// seconds.
int Startup_find(struct Served *found, const struct StartupRequest *request,
                 char *why, size_t why_size);
