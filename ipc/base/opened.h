// SPDX-License-Identifier: MIT
// Descriptors in a process that is not ours, and the file that each stood for
// when we opened it. The traced program may close our numbers (a daemon closes
// all that it finds) and get them for files of its own. Those are neither read,
// nor written, nor closed. None of ours is 0, 1 or 2: a program that has closed
// those may go on printing. Any thread.
#ifndef OCULAR_IPC_BASE_OPENED_H
#define OCULAR_IPC_BASE_OPENED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct Opened { // noted by one thread while others may compare
    _Atomic dev_t device;
    _Atomic ino_t inode;
};

void Opened_note(struct Opened *opened, int fd);
// Is it the same file still? Sockets and pipes have an inode each. All
// eventfds, inotifies, epolls and timerfds share one, and count as the same
// file.
bool Opened_holds(const struct Opened *opened, int fd);
// Closes the descriptor if it is the same file still.
void Opened_close(const struct Opened *opened, int fd);
// The kernel gives the program the lowest free number. Ours have this number or
// a higher one, so a program that has closed one seldom gets it.
#define OPENED_ABOVE 128
// Every descriptor of ours passes through here right after it was made. Returns
// `fd`. If that is below OPENED_ABOVE, it closes `fd` and returns a copy that
// is closed on exec. If no such copy is to be had, the result is 3 or more. A
// negative `fd` becomes -errno, as a failed copy does.
int Opened_above(int fd);
// open(), closed on exec, for a descriptor that Opened_above would return.
// -EBADF: the program has taken the number over before the file behind it was
// noted. Descriptor or -errno.
int Opened_open(const char *path, int flags, mode_t mode);
// The same for a new file without a name in that folder (O_TMPFILE), for
// writing.
int Opened_open_unnamed(int directory, const char *folder);
// Is it a regular file, open for writing?
bool Opened_is_writable_file(int fd);
// Reads a file from its beginning: up to size - 1 bytes, terminated by a NUL.
// Their number, or -errno; -EBADF if the program took the number meanwhile.
long Opened_read(const char *path, char *text, size_t size);
// Writes all of it, in as many parts as it takes. 0 or -errno.
int Opened_write(int fd, const void *data, size_t size);

#endif
