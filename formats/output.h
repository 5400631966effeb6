// SPDX-License-Identifier: MIT
// A file that appears whole or not at all: written without a name, or beside
// its place under another one (ipc/base/in_place.h), gzipped if its own ends
// in ".gz", and put in its place at the end. Or
// one that somebody else has opened, who puts it in its place or removes it, or
// a character device, as /dev/null. One thread, which may block.
#ifndef OCULAR_FORMATS_OUTPUT_H
#define OCULAR_FORMATS_OUTPUT_H

#include "ipc/base/opened.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct OutputStream;

struct Output {
    struct OutputStream *stream;
    char *path;      // NULL: of somebody else, or a device
    char *temporary; // NULL: it has no name yet
};

// 0 or -errno. A path that exists is refused if it is neither a plain file nor
// a character device: -EISDIR, -EINVAL. A link is followed; a change of
// directory has no effect from now on.
int Output_open(struct Output *output, const char *path);
// Writes to this descriptor from where it stands, as long as it is that file,
// gzipped if `name` says so. Both stay the caller's, who closes it. 0 or
// -ENOMEM.
int Output_borrow(struct Output *output, int fd, const struct Opened *opened,
                  const char *name);
int Output_write(struct Output *output, const void *data, size_t size);
// Bytes of the file so far; what waits to be written or packed is not in it.
uint64_t Output_bytes(const struct Output *output);
// Puts the file in its place, if it is not another's; *bytes is its size.
// -EEXIST: another one is there by now, and it was not to be overwritten.
// Always releases.
int Output_commit(struct Output *output, bool overwrite, uint64_t *bytes);
// Removes the file that was written. Always releases.
void Output_abort(struct Output *output);

#endif
