// SPDX-License-Identifier: MIT
// Writes a file that appears under its name only when it is complete. While the
// file is written, it has no name, or another name in the same directory
// (ipc/base/in_place.h). When the output is complete, its file is renamed. The
// file is gzipped if its name ends in ".gz". An output can also be a file that
// is borrowed. The owner of a borrowed file has opened it, and later renames or
// removes it. An output can also be a character device such as /dev/null. An
// output may be used by one thread only. The thread may block.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct FormatsFile;
struct OutputStream;

struct Output {
    struct OutputStream *stream;
    // Name of the file, or NULL if the file is borrowed or a device.
    char *path;
    // Present name of the file, or NULL if the file has no name yet.
    char *temporary;
    bool overwrite; // True if an existing file may be replaced.
};

// Opens a file as an output. Returns 0 or -errno. If the file has a descriptor,
// the output writes to it from its present offset, as long as it is still the
// file in `opened`. The caller still owns the descriptor and closes it. If the
// file has no descriptor and its path exists, the path must be that of a
// regular file or a character device. For any other file the result is -EISDIR
// or -EINVAL. If the path is a symlink, the output is the link's target. A
// chdir() of the program after Output_open has no effect on the output.
int Output_open(struct Output *output, const struct FormatsFile *file);
int Output_write(struct Output *output, const void *data, size_t size);
// Returns the number of bytes that were written to the file. Bytes that are
// still in the buffer are not counted.
uint64_t Output_bytes(const struct Output *output);
// Gives the file its name. A borrowed file is not renamed. Sets *bytes to the
// size of the file in bytes. Returns -EEXIST if a file of this name exists and
// must not be replaced. Output_commit always releases the output.
int Output_commit(struct Output *output, uint64_t *bytes);
// Removes the file of the output. Output_abort always releases the output.
void Output_abort(struct Output *output);
