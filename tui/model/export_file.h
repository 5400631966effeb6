// SPDX-License-Identifier: MIT
// The file of an export. The viewer opens the file with its own rights (as
// root: with those of the process's user), and the process writes to the
// descriptor. The file is a temporary one in the same directory until it is
// complete. Owned by the feed. One thread.
#ifndef OCULAR_TUI_MODEL_EXPORT_FILE_H
#define OCULAR_TUI_MODEL_EXPORT_FILE_H

#include "ipc/process.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct ExportFile {
    bool there;    // an export exists; else the other fields are unused
    int fd;        // descriptor of the temporary file
    int directory; // descriptor of the directory of both files
    bool overwrite;
    struct ProcessUser user; // the process's user, if we are root
    char temporary[64];      // the temporary file's name; "": it has none
    const char *name;        // the last part of `path`
    // absolute path of the final file, relative to the process's root
    char path[PATH_MAX];
};

// Makes the temporary file. `path` is relative to the root and directory of
// process `pid` (0: this process). Returns 0 or -errno: -EEXIST if the file
// exists and `overwrite` is not set; -EISDIR or -EINVAL if it is no regular
// file.
int ExportFile_open(struct ExportFile *file, pid_t pid, const char *path,
                    bool overwrite);
// Renames the temporary file to its final name. Returns 0 or -errno: -EEXIST
// like ExportFile_open; -EIO if the file's size differs from `bytes`, the size
// that the process reports. Always closes the file; after an error no file is
// left.
int ExportFile_commit(struct ExportFile *file, uint64_t bytes);
// Removes the temporary file, if there is one.
void ExportFile_drop(struct ExportFile *file);

#endif
