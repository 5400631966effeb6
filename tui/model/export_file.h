// SPDX-License-Identifier: MIT
// An ExportFile is the file of an export. The viewer opens the file with the
// viewer's own rights, or, if the viewer runs as root, with the rights of the
// process's user. Until the export is complete, the content is in a temporary
// file in the same directory. The feed owns the ExportFile.
#pragma once

#include "ipc/process.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct ExportFile {
    // False if there is no export. If `there` is false, the other members are
    // unused.
    bool there;
    int fd;    // Descriptor of the temporary file.
    pid_t pid; // The process, or 0.
    // Descriptor of the directory of both the temporary file and the final
    // file.
    int directory;
    bool overwrite;
    // The process's user. Only used if the viewer runs as root.
    struct ProcessUser user;
    // Name of the temporary file, or "" if it has no name.
    char temporary[64];
    const char *name; // The last part of `path`.
    // Path of the final file below the root directory of the process.
    char path[PATH_MAX];
};

// Makes the temporary file of an export. `path` is relative to the root and
// current directory of the process `pid` (0 = this process). Returns 0 or
// -errno. The error is -EEXIST if the file exists and `overwrite` is not set,
// and -EISDIR or -EINVAL if the path is no regular file.
int ExportFile_open(struct ExportFile *file, pid_t pid, const char *path,
                    bool overwrite);
// Renames the temporary file to its final name, and always closes the file.
// Returns 0 or -errno. The error is -EEXIST as in ExportFile_open, and -EIO if
// the file's size differs from `bytes`, the size that the writer reports. After
// an error, removes the temporary file.
int ExportFile_commit(struct ExportFile *file, uint64_t bytes);
// Removes the temporary file, if there is one.
void ExportFile_drop(struct ExportFile *file);
