// SPDX-License-Identifier: MIT
// An ExportFile is the file of an export. The viewer opens the file with its
// own rights, or, if it runs as root, with the rights of the process's user.
// The viewer writes the file, or passes the descriptor to a process of an older
// Ocular, which writes it. Until the export is complete, the file is a
// temporary file in the same directory. The feed owns the ExportFile.
#pragma once

#include "ipc/process.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct ExportFile {
    bool there; // If no export exists, the other fields are unused.
    int fd;     // Descriptor of the temporary file.
    pid_t pid;  // The process, or 0.
    // Descriptor of the directory of the temporary and the final file.
    int directory;
    bool overwrite;
    struct ProcessUser user; // The process's user, if the viewer runs as root.
    // The temporary file's name, or "" if the file has no name.
    char temporary[64];
    const char *name; // The last part of `path`.
    // Path of the final file below the process's root.
    char path[PATH_MAX];
};

// Makes the temporary file of an export. `path` is relative to the root and
// directory of process `pid` (0 = this process). Returns 0 or -errno. The error
// is -EEXIST if the file exists and `overwrite` is not set, and -EISDIR or
// -EINVAL if the path is no regular file.
int ExportFile_open(struct ExportFile *file, pid_t pid, const char *path,
                    bool overwrite);
// Renames the temporary file to its final name, and always closes the file.
// Returns 0 or -errno. The error is -EEXIST as in ExportFile_open, and -EIO if
// the file's size differs from `bytes`, the size that the writer reports. After
// an error, removes the temporary file.
int ExportFile_commit(struct ExportFile *file, uint64_t bytes);
// Removes the temporary file, if there is one.
void ExportFile_drop(struct ExportFile *file);
