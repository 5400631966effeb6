// SPDX-License-Identifier: MIT
// A file that appears completely or not at all. The file is written without a
// name, or under another name in the same directory (ipc/base/in_place.h), and
// gets its name at the end. The file is gzipped if its name ends in ".gz". An
// output may also be a file that somebody else has opened, who then renames or
// removes it, or a character device such as /dev/null. One thread uses an
// output, and may block.
#ifndef OCULAR_FORMATS_OUTPUT_H
#define OCULAR_FORMATS_OUTPUT_H

#include "ipc/base/opened.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct OutputStream;

struct Output {
    struct OutputStream *stream;
    char *path;      // NULL: the file is borrowed, or a device
    char *temporary; // NULL: the file has no name yet
};

// Opens an output. Returns 0 or -errno. A path that exists must be a regular
// file or a character device, otherwise the result is -EISDIR or -EINVAL. A
// symlink is followed. A later chdir() has no effect.
int Output_open(struct Output *output, const char *path);
// Makes an output that writes to this descriptor from its present offset, while
// it still is the noted file. The data is gzipped if `name` ends in ".gz". The
// caller keeps and closes the descriptor. Returns 0 or -ENOMEM.
int Output_borrow(struct Output *output, int fd, const struct Opened *opened,
                  const char *name);
int Output_write(struct Output *output, const void *data, size_t size);
// Returns the bytes written to the file, without buffered ones.
uint64_t Output_bytes(const struct Output *output);
// Gives the file its name, unless it is borrowed; *bytes is its size. Returns
// -EEXIST if a file of this name exists and must not be overwritten. Always
// releases the output.
int Output_commit(struct Output *output, bool overwrite, uint64_t *bytes);
// Removes the file. Always releases the output.
void Output_abort(struct Output *output);

#endif
