// SPDX-License-Identifier: MIT
// The part of a timeline that its memory limit has no room for: a file without
// a name, in a directory that is given. The timeline and each chunk that is in
// it have a reference. Any thread.
#ifndef OCULAR_TRACER_TIMELINE_SPILL_H
#define OCULAR_TRACER_TIMELINE_SPILL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct Spill;

// With one reference; *error is 0 or -errno.
struct Spill *Spill_new(const char *folder, int *error);
void Spill_get(struct Spill *spill);
void Spill_put(struct Spill *spill); // closes it with the last reference
// Nothing is written any more, and what is dropped does not matter.
void Spill_end(struct Spill *spill);
// In a forked child: its parent's file is not kept by it.
void Spill_abandon(struct Spill *spill);
// Appends a piece, of parts one behind the other; *at says where it is. 0 or
// -errno: -ENOSPC where the file system would have less than a twentieth of its
// size left, or 1 GiB.
int Spill_write(struct Spill *spill, const struct iovec *parts, size_t count,
                uint64_t *at);
// Reads a piece. 0 or -errno.
int Spill_read(const struct Spill *spill, uint64_t at, void *data, size_t size);
// The piece is not needed any more: the file system may have its room back.
void Spill_drop(struct Spill *spill, uint64_t at, size_t size);

#endif
