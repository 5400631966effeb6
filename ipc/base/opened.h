// SPDX-License-Identifier: MIT
// Our descriptors in a process that is not ours, and the file that each one
// stood for when we opened it. The traced program may close our descriptors, as
// daemons often do, and may then get the same numbers for its own files. Ocular
// never reads, writes or closes those files. None of our descriptors is 0, 1 or
// 2, because a program that has closed these may still print. Any thread may
// call these functions.
#ifndef OCULAR_IPC_BASE_OPENED_H
#define OCULAR_IPC_BASE_OPENED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct Opened { // one thread notes a file while others may compare
    _Atomic dev_t device;
    _Atomic ino_t inode;
};

// Notes the file that `fd` stands for.
void Opened_note(struct Opened *opened, int fd);
// Returns whether `fd` still stands for the noted file. Each socket and pipe
// has an inode of its own. All eventfds, inotifies, epolls and timerfds share
// one inode, and count as the same file.
bool Opened_holds(const struct Opened *opened, int fd);
// Closes the descriptor if it still stands for the noted file.
void Opened_close(const struct Opened *opened, int fd);
// Our descriptors have this number or a higher one. The kernel gives the
// program the lowest free number, so a program that has closed one of ours
// seldom gets its number.
#define OPENED_ABOVE 128
// Moves a new descriptor of ours to a safe number. Call this for every
// descriptor right after it was made. Returns `fd` itself if that is
// OPENED_ABOVE or more. Otherwise it closes `fd` and returns a copy that is
// closed on exec. If the limit of descriptors forbids such a copy, the result
// is 3 or more. Returns -errno if `fd` is negative or the copy fails.
int Opened_above(int fd);
// Works as open() and Opened_above do, with O_CLOEXEC. Returns a descriptor or
// -errno; -EBADF means that the program took the number over before its file
// was noted.
int Opened_open(const char *path, int flags, mode_t mode);
// Opens a new file without a name in that folder (O_TMPFILE) for writing, in
// the same way.
int Opened_open_unnamed(int directory, const char *folder);
// Returns whether `fd` is a regular file that is open for writing.
bool Opened_is_writable_file(int fd);
// Reads up to size - 1 bytes from the beginning of a file and terminates them
// by a NUL. Returns their number or -errno; -EBADF means that the program took
// the descriptor over meanwhile.
long Opened_read(const char *path, char *text, size_t size);
// Writes all bytes, with as many calls as needed. Returns 0 or -errno.
int Opened_write(int fd, const void *data, size_t size);

#endif
