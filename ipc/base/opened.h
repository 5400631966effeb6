// SPDX-License-Identifier: MIT
// struct Opened identifies the file for which Ocular opened a descriptor in the
// traced process. The traced program may close Ocular's descriptors, as daemons
// often do. The program may then get the same numbers for its own files. Ocular
// therefore checks its descriptors, so that it never reads, writes or closes
// the program's files. Ocular's descriptors are never 0, 1 or 2, because a
// program may print after it has closed these three. Any thread may call these
// functions.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// One thread may write a struct Opened while other threads compare it.
struct Opened {
    _Atomic dev_t device;
    _Atomic ino_t inode;
};

// Notes the file for which the descriptor `fd` stands.
void Opened_note(struct Opened *opened, int fd);
// Returns true if the descriptor `fd` still stands for the noted file. Each
// socket and pipe has its own inode. All eventfds, inotifies, epolls and
// timerfds share one inode, so that they cannot be told apart.
bool Opened_holds(const struct Opened *opened, int fd);
// Closes the descriptor if it still stands for the noted file.
void Opened_close(const struct Opened *opened, int fd);
// Smallest number that Ocular uses for its descriptors. The kernel gives a
// program the lowest free number, so the program seldom gets the number of a
// descriptor that it has closed.
#define OPENED_ABOVE 128
// Moves a new descriptor of Ocular to a safe number. Must be called for each
// descriptor of Ocular right after its creation. Returns `fd` itself if it is
// OPENED_ABOVE or more. If `fd` is less than OPENED_ABOVE, closes `fd` and
// returns a copy, which is closed on exec. If the limit of descriptors is too
// low for a copy at OPENED_ABOVE or higher, the result is 3 or more. Returns
// -errno if `fd` is negative or the copy fails.
int Opened_above(int fd);
// Calls open() with O_CLOEXEC, and then Opened_above(). Returns a descriptor or
// -errno. -EBADF means that the program has closed the new descriptor and has
// got its number for another file.
int Opened_open(const char *path, int flags, mode_t mode);
// Opens a new file without a name (O_TMPFILE) in `folder` for writing. Returns
// the same as Opened_open.
int Opened_open_unnamed(int directory, const char *folder);
// Reads up to size - 1 bytes from the beginning of a file and adds a NUL.
// Returns the number of bytes, or -errno. -EBADF means that the program has
// closed the new descriptor and has got its number for another file.
long Opened_read(const char *path, char *text, size_t size);
// Writes all bytes to the descriptor, with as many calls of write() as needed.
// Returns 0 or -errno.
int Opened_write(int fd, const void *data, size_t size);
