// SPDX-License-Identifier: MIT
#include "ipc/wait_kind.h"

#include <stddef.h>
#include <string.h>

static const char *const NAMES[WAIT_KINDS] = {
    "socket", "file", "lock", "sleep", "gil", "cpu", "idle", "other"};

const char *WaitKind_name(unsigned kind)
{
    return kind < WAIT_KINDS ? NAMES[kind] : NULL;
}

unsigned WaitKind_of(const char *name)
{
    unsigned kind = 0;

    while (name && kind < WAIT_KINDS && strcmp(name, NAMES[kind]) != 0)
        kind++;
    return name ? kind : WAIT_UNKNOWN;
}
