// SPDX-License-Identifier: MIT
// Writes a file that appears completely or not at all. First the file has no
// name, or another name in the same directory (ipc/base/in_place.h). At the end
// the file gets its name. The file is gzipped if its name ends in ".gz". An
// output may also be a borrowed file, whose owner has opened the file and later
// renames or removes it. An output may also be a character device such as
// /dev/null. One thread uses an output and may block.
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
// Makes an output that writes to `fd` from the present offset, as long as `fd`
// is still the file in `opened`. The data is gzipped if `name` ends in ".gz".
// The caller keeps and closes the descriptor. Returns 0 or -ENOMEM.
int Output_borrow(struct Output *output, int fd, const struct Opened *opened,
                  const char *name);
int Output_write(struct Output *output, const void *data, size_t size);
// Returns the number of bytes written to the file. Bytes in the buffer are not
// counted.
uint64_t Output_bytes(const struct Output *output);
// Gives the file its name, unless the file is borrowed. Sets *bytes to the
// file's size. Returns -EEXIST if a file of this name exists and must not be
// overwritten. Always releases the output.
int Output_commit(struct Output *output, bool overwrite, uint64_t *bytes);
// Removes the file. Always releases the output.
void Output_abort(struct Output *output);

#endif
