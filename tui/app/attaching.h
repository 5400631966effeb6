// SPDX-License-Identifier: MIT
// Attaches to a process that the user chose, by the command line or in the list
// of processes. Asks the user first, unless the command line has --attach.
// Detaches when the viewer exits. main.c calls these functions.
#ifndef OCULAR_TUI_APP_ATTACHING_H
#define OCULAR_TUI_APP_ATTACHING_H

#include "ipc/address.h"
#include "tui/app/options.h"
#include "tui/attach/attach.h"

#include <stdbool.h>

// The processes to which this viewer has attached, and from which it has to
// detach.
struct Attaching {
    pid_t *pids; // ids of these processes; owned
    size_t count;
};

// Carries out --attach-only or --detach. Returns 0 with a message about the
// success in `why`, or -errno with the reason in `why`.
int Attaching_command(const struct Options *options, char *why,
                      size_t why_size);
// For the case that the process of --pid does not serve: returns true if the
// viewer should attach to this process. If the user has to be asked, this
// happens before curses uses the terminal.
bool Attaching_is_wanted(const struct Options *options);
// Attaches to a process. Returns 0 and sets *served, or -errno with the reason
// in `why`.
int Attaching_begin(struct Attaching *attaching, const struct AttachWish *wish,
                    struct Served *served, char *why, size_t why_size);
// Detaches from the process to which the viewer attached last. Returns 0, or
// -errno with the reason in `why`. If the process does not serve any more, this
// is no error.
int Attaching_end(struct Attaching *attaching, const char *package, char *why,
                  size_t why_size);

#endif
