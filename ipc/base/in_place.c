// SPDX-License-Identifier: MIT
// See in_place.h.
#define _GNU_SOURCE 1 // renameat2
#include "ipc/base/in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int InPlace_put(int directory, const char *temporary, const char *name,
                bool overwrite)
{
    if (overwrite)
        return renameat(directory, temporary, directory, name) ? -errno : 0;
    if (renameat2(directory, temporary, directory, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    // A file system that has no such renaming.
    if (linkat(directory, temporary, directory, name, 0) == 0) {
        unlinkat(directory, temporary, 0);
        return 0;
    }
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP)
        return -errno;
    // Nor second names: what comes between the next two is overwritten.
    if (faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return renameat(directory, temporary, directory, name) ? -errno : 0;
}
