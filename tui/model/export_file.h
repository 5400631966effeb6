// SPDX-License-Identifier: MIT
// The file of an export. The viewer opens it, with its own rights (root: with
// those of the process's user), and the process writes to the descriptor. Until
// all is written it is a temporary beside its place. Owned by the feed. One
// thread.
#ifndef OCULAR_TUI_MODEL_EXPORT_FILE_H
#define OCULAR_TUI_MODEL_EXPORT_FILE_H

#include "ipc/process.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct ExportFile {
    bool there;    // there is an export; else nothing below counts
    int fd;        // of the temporary
    int directory; // descriptor of the directory of both
    bool overwrite;
    struct ProcessUser user; // user of the process, if we are root
    char temporary[64];      // its name; "": it has none
    const char *name;        // the last part of `path`
    char path[PATH_MAX];     // absolute, below the process's root
};

// Makes the temporary, where `path` leads from the process's root and directory
// (pid 0: ours). 0 or -errno. -EEXIST: the name exists and `overwrite` is not
// set; -EISDIR, -EINVAL: it is no regular file.
int ExportFile_open(struct ExportFile *file, pid_t pid, const char *path,
                    bool overwrite);
// Puts the file in its place. 0 or -errno. -EEXIST: as above; -EIO: the file
// does not have the bytes that the process reports. Always closes; a failure
// leaves nothing.
int ExportFile_commit(struct ExportFile *file, uint64_t bytes);
// Removes the temporary, if there is one.
void ExportFile_drop(struct ExportFile *file);

#endif
