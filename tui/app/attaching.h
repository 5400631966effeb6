// SPDX-License-Identifier: MIT
// Attaching by the command line or from the list of processes: asks the user if
// the command line has no option for it, and detaches when the viewer leaves.
// Called by main.
#ifndef OCULAR_TUI_APP_ATTACHING_H
#define OCULAR_TUI_APP_ATTACHING_H

#include "ipc/address.h"
#include "tui/app/options.h"
#include "tui/attach/attach.h"

#include <stdbool.h>

// Processes that serve because of us, so we end that.
struct Attaching {
    pid_t *pids; // owned
    size_t count;
};

// --attach-only and --detach: 0 with `why` saying what was done, or -errno.
int Attaching_command(const struct Options *options, char *why,
                      size_t why_size);
// The process of --pid does not serve: is it to? Asks, while there is no
// screen.
bool Attaching_is_wanted(const struct Options *options);
// Has it serve: 0 and `served`, or -errno with `why`.
int Attaching_begin(struct Attaching *attaching, const struct AttachWish *wish,
                    struct Served *served, char *why, size_t why_size);
// Ends the last one that was begun. 0, also if it serves no more, or -errno
// with `why`.
int Attaching_end(struct Attaching *attaching, const char *package, char *why,
                  size_t why_size);

#endif
