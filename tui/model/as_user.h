// SPDX-License-Identifier: MIT
// Lets the viewer open files with the rights of a process's user, if the viewer
// runs as root and the process belongs to another user. If the viewer kept the
// rights of root, the process could lead root to other files, because the
// process chooses the directories and links that the viewer follows.
#pragma once

#include "ipc/process.h"

struct AsUser {
    bool changed;
    gid_t groups[PROCESS_GROUPS];
    // Number of the viewer's own groups in `groups`, or -1 if the groups are
    // not changed.
    int group_count;
};

// Takes on the user's rights if the viewer is root and the user is not. Returns
// 0, or -EPERM if the kernel does not change the rights.
int AsUser_begin(struct AsUser *as, const struct ProcessUser *user);
void AsUser_end(struct AsUser *as); // Restores the viewer's own rights.
