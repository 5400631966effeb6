// SPDX-License-Identifier: MIT
// Finds the socket of a process by its pid. If the process has just begun,
// waits until the process or one of its workers serves viewers, for example in
// `python -m ocular --serve app.py & ocular-top --pid $!`. main.c calls these
// functions before the screen is set up.
#pragma once

#include "ipc/address.h"

#include <stdbool.h>

// Returns what Address_find returns. `workers` is true if it is enough that a
// worker of the process serves viewers. If the process will probably serve
// viewers soon, first says so on stderr, and then tries again for some seconds.
int Startup_find(struct Served *found, pid_t pid, bool workers, char *why,
                 size_t why_size);
