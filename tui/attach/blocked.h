// SPDX-License-Identifier: MIT
// The reason why the main thread of another process does not run Python.
// Called by attach.c, for a message.
#ifndef OCULAR_TUI_ATTACH_BLOCKED_H
#define OCULAR_TUI_ATTACH_BLOCKED_H

#include <stddef.h>
#include <sys/types.h>

// As the end of a sentence: "is in the system call futex: it waits for
// a lock, or for another thread".
void Blocked_describe(pid_t pid, char *out, size_t size);

#endif
