// SPDX-License-Identifier: MIT
// The file of an export, opened here, so that the rights are ours (root's: the
// traced process's user's); the process gets the descriptor and writes. It is a
// temporary beside its place until all is there. One thread.
#ifndef OCULAR_TUI_MODEL_EXPORT_FILE_H
#define OCULAR_TUI_MODEL_EXPORT_FILE_H

#include "ipc/process.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct ExportFile {
    bool there;    // else nothing below counts
    int fd;        // of the temporary
    int directory; // names that in which both are
    bool overwrite;
    struct ProcessUser user; // of the process, where we are root
    char temporary[64];
    const char *name;    // the end of `path`
    char path[PATH_MAX]; // from the process's root
};

// Makes the temporary, where `path` leads from the process's root and directory
// (pid 0: ours). 0 or -errno: -EEXIST where something has that name and is not
// to be overwritten; -EISDIR, -EINVAL: it is no regular file.
int ExportFile_open(struct ExportFile *file, pid_t pid, const char *path,
                    bool overwrite);
// Puts it in its place. 0 or -errno: -EEXIST, as above; -EIO: these are not the
// bytes that the process says it has written. Always closes; where it fails,
// nothing is left.
int ExportFile_commit(struct ExportFile *file, uint64_t bytes);
// Removes it, if there is one.
void ExportFile_drop(struct ExportFile *file);

#endif
