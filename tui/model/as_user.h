// SPDX-License-Identifier: MIT
// Where we are root and look at somebody else's process, its files are reached
// with that user's rights and no more: its directory and its links are chosen
// by it. One thread.
#ifndef OCULAR_TUI_MODEL_AS_USER_H
#define OCULAR_TUI_MODEL_AS_USER_H

#include "ipc/process.h"

struct AsUser {
    bool changed;
    gid_t groups[PROCESS_GROUPS];
    int group_count; // ours, to come back to; -1: they stayed
};

// 0, also where nothing is to be done, or -EPERM: we cannot become that user.
int AsUser_begin(struct AsUser *as, const struct ProcessUser *user);
void AsUser_end(struct AsUser *as); // ourselves again

#endif
