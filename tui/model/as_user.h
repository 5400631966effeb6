// SPDX-License-Identifier: MIT
// If we are root and watch another user's process, we open its files with that
// user's rights and no more: the process chooses its directory and its links.
// Called by export_file.c. One thread.
#ifndef OCULAR_TUI_MODEL_AS_USER_H
#define OCULAR_TUI_MODEL_AS_USER_H

#include "ipc/process.h"

struct AsUser {
    bool changed;
    gid_t groups[PROCESS_GROUPS];
    int group_count; // our own, to come back to; -1: we did not change them
};

// 0, also if there is nothing to do, or -EPERM: we cannot become that user.
int AsUser_begin(struct AsUser *as, const struct ProcessUser *user);
void AsUser_end(struct AsUser *as); // makes us ourselves again

#endif
