// SPDX-License-Identifier: MIT
// Opens files with the rights of a process's user if we are root and the
// process belongs to another user: the process chooses the directories and
// links that we follow. Called by export_file.c. One thread.
#ifndef OCULAR_TUI_MODEL_AS_USER_H
#define OCULAR_TUI_MODEL_AS_USER_H

#include "ipc/process.h"

struct AsUser {
    bool changed;
    gid_t groups[PROCESS_GROUPS];
    // number of our own groups in `groups`; -1: they were not changed
    int group_count;
};

// Returns 0, also if there is nothing to do, or -EPERM if this process cannot
// take on the user's rights.
int AsUser_begin(struct AsUser *as, const struct ProcessUser *user);
void AsUser_end(struct AsUser *as); // restores our own rights

#endif
