// SPDX-License-Identifier: MIT
// Attaches to a process that the user chose, by the command line or in the list
// of processes. The viewer asks the user before it attaches, unless the command
// line has --attach. The viewer detaches when it exits. main.c calls the
// functions of attaching.h.
#pragma once

#include "ipc/address.h"
#include "tui/app/options.h"
#include "tui/attach/attach.h"

#include <stdbool.h>

// The processes to which this viewer has attached, and from which it has to
// detach.
struct Attaching {
    pid_t *pids; // Ids of the processes, owned by struct Attaching.
    size_t count;
};

// Carries out --attach-only or --detach. Returns 0 with a message about the
// success in `why`, or -errno with the reason in `why`.
int Attaching_command(const struct Options *options, char *why,
                      size_t why_size);
// Returns true if the viewer should attach to the process of --pid, which does
// not serve viewers. If the user has to be asked, Attaching_is_wanted asks
// before curses uses the terminal.
bool Attaching_is_wanted(const struct Options *options);
// Attaches to a process. Returns 0 and sets *served, or -errno with the reason
// in `why`.
int Attaching_begin(struct Attaching *attaching,
                    const struct AttachRequest *request, struct Served *served,
                    char *why, size_t why_size);
// Detaches from the process to which the viewer attached last. Returns 0, or
// -errno with the reason in `why`. If the process does not serve viewers any
// more, this is no error.
int Attaching_end(struct Attaching *attaching, const char *package, char *why,
                  size_t why_size);
