// SPDX-License-Identifier: MIT
// Attaches to a process, by the command line or from the list of processes.
// Asks the user if the command line has no option for this, and detaches when
// the viewer ends. Called by main.
#ifndef OCULAR_TUI_APP_ATTACHING_H
#define OCULAR_TUI_APP_ATTACHING_H

#include "ipc/address.h"
#include "tui/app/options.h"
#include "tui/attach/attach.h"

#include <stdbool.h>

// Processes that serve because of us and that we have to detach from.
struct Attaching {
    pid_t *pids; // processes that were attached to; owned
    size_t count;
};

// Carries out --attach-only or --detach. Returns 0 with a message about success
// in `why`, or -errno with the reason.
int Attaching_command(const struct Options *options, char *why,
                      size_t why_size);
// Returns true if the process of --pid, which does not serve, shall be attached
// to. Asks the user, as long as the terminal has no curses screen.
bool Attaching_is_wanted(const struct Options *options);
// Attaches to a process. Returns 0 and sets *served, or -errno with the reason
// in `why`.
int Attaching_begin(struct Attaching *attaching, const struct AttachWish *wish,
                    struct Served *served, char *why, size_t why_size);
// Detaches from the newest process. Returns 0, also if the process does not
// serve any more, or -errno with the reason in `why`.
int Attaching_end(struct Attaching *attaching, const char *package, char *why,
                  size_t why_size);

#endif
