// SPDX-License-Identifier: MIT
// Which file a descriptor's number stood for when we opened it. The traced
// program may close our numbers (a daemon closes all that it finds) and get
// them for files of its own: those are neither read, nor written, nor closed.
// Any thread.
#ifndef OCULAR_IPC_OPENED_H
#define OCULAR_IPC_OPENED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct Opened { // noted by one thread while others may compare
    _Atomic dev_t device;
    _Atomic ino_t inode;
};

void Opened_note(struct Opened *opened, int fd);
// Is it the same file still? Sockets and pipes have an inode each. All
// eventfds, inotifies, epolls and timerfds share one: those are not told apart.
bool Opened_holds(const struct Opened *opened, int fd);
// Closes what is still the same file.
void Opened_close(const struct Opened *opened, int fd);

#endif
