// SPDX-License-Identifier: MIT
// Attaches to a process that was started without Ocular. The user chooses the
// process by the command line or in the list of processes. The viewer asks the
// user before it attaches, unless the command line has --attach. The viewer
// detaches when it exits. main.c calls these functions.
#pragma once

#include "ipc/address.h"
#include "tui/app/options.h"
#include "tui/attach/attach.h"

#include <stdbool.h>

// The processes to which this viewer has attached. The viewer has to detach
// from these processes.
struct Attaching {
    pid_t *pids; // Ids of the processes, owned by struct Attaching.
    size_t count;
};

// Carries out --attach-only or --detach. Returns 0 with a message in `why`, or
// -errno with the reason in `why`.
int Attaching_command(const struct Options *options, char *why,
                      size_t why_size);
// Returns true if the viewer should attach to the process of --pid, in which
// Ocular does not run. If the user must be asked, asks before curses uses the
// terminal.
bool Attaching_is_wanted(const struct Options *options);
// Attaches to a process. Returns 0 and sets *served, or -errno with the reason
// in `why`.
int Attaching_begin(struct Attaching *attaching,
                    const struct AttachRequest *request, struct Served *served,
                    char *why, size_t why_size);
// Detaches from the process to which the viewer attached last. Returns 0, or
// -errno with the reason in `why`. If Ocular no longer runs in the process,
// Attaching_end returns no error.
int Attaching_end(struct Attaching *attaching, const char *package, char *why,
                  size_t why_size);
