// SPDX-License-Identifier: MIT
// What the command line says about attaching: asks the user where it says
// nothing, and ends what it began when the viewer leaves. Called by main, while
// there is no screen.
#ifndef OCULAR_TUI_APP_ATTACHING_H
#define OCULAR_TUI_APP_ATTACHING_H

#include "ipc/address.h"
#include "tui/app/options.h"

#include <stdbool.h>

struct Attaching {
    bool begun; // by us, so we end it
};

// --attach-only and --detach: 0 with `why` saying what was done, or -errno.
int Attaching_command(const struct Options *options, char *why,
                      size_t why_size);
// The process of --pid does not serve: has it serve where the user wants that.
// 0 and `served`, or -ENOENT (it is not wanted; `why` stays) or -errno.
int Attaching_begin(struct Attaching *attaching, const struct Options *options,
                    struct Served *served, char *why, size_t why_size);
// 0, also where there is nothing to end, or -errno with `why`.
int Attaching_end(struct Attaching *attaching, const struct Options *options,
                  char *why, size_t why_size);

#endif
