// SPDX-License-Identifier: MIT
// Finds out why the main thread of another process does not run Python code.
// attach.c calls Blocked_describe for a message.
#pragma once

#include <stddef.h>
#include <sys/types.h>

// Writes the end of a sentence, for example "is in the system call futex: it
// waits for a lock, or for another thread".
void Blocked_describe(pid_t pid, char *out, size_t size);
