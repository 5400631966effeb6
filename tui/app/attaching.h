// SPDX-License-Identifier: MIT
// Attaches to a process that the command line or the user chose. Asks the user
// first, unless the command line has --attach. Detaches when the viewer ends.
// main.c calls these functions.
#ifndef OCULAR_TUI_APP_ATTACHING_H
#define OCULAR_TUI_APP_ATTACHING_H

#include "ipc/address.h"
#include "tui/app/options.h"
#include "tui/attach/attach.h"

#include <stdbool.h>

// Processes to which this viewer has attached, and from which it has to detach.
struct Attaching {
    pid_t *pids; // process ids; owned
    size_t count;
};

// Carries out --attach-only or --detach. Returns 0 with a message about success
// in `why`, or -errno with the reason.
int Attaching_command(const struct Options *options, char *why,
                      size_t why_size);
// The process of --pid does not serve. Returns true if the viewer is to attach
// to this process. Asks the user before curses uses the terminal.
bool Attaching_is_wanted(const struct Options *options);
// Attaches to a process. Returns 0 and sets *served, or -errno with the reason
// in `why`.
int Attaching_begin(struct Attaching *attaching, const struct AttachWish *wish,
                    struct Served *served, char *why, size_t why_size);
// Detaches from the newest process. Returns 0, or -errno with the reason in
// `why`. A process that does not serve any more is no error.
int Attaching_end(struct Attaching *attaching, const char *package, char *why,
                  size_t why_size);

#endif
