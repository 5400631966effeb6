// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // renameat2
#include "ipc/base/in_place.h"

#include "ipc/base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// link() reaches an unnamed file by its path in this folder.
#define SELF "/proc/thread-self/fd"
#define ATTEMPTS 100

int InPlace_open_unnamed(int directory, const char *folder)
{
    return access(SELF, X_OK) ? -errno : Opened_open_unnamed(directory, folder);
}

static int link_unnamed(int directory, int fd, const char *name)
{
    char self[sizeof SELF + 16];

    snprintf(self, sizeof self, SELF "/%d", fd);
    return linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW) ? -errno
                                                                      : 0;
}

// Gives an unnamed file the name of another file. The unnamed file first gets a
// temporary name and is then renamed, because link() never replaces a file.
static int replace(int directory, int fd, const char *name)
{
    const char *slash = strrchr(name, '/');
    int length = slash ? (int)(slash - name) + 1 : 0, error = -EEXIST, i;
    char beside[PATH_MAX];

    for (i = 0; i < ATTEMPTS && error == -EEXIST; i++) {
        if (snprintf(beside, sizeof beside, "%.*s.ocular-%ld-%d.tmp", length,
                     name, (long)getpid(), i) >= (int)sizeof beside)
            return -ENAMETOOLONG;
        error = link_unnamed(directory, fd, beside);
    }
    if (!error && renameat(directory, beside, directory, name)) {
        error = -errno;
        unlinkat(directory, beside, 0);
    }
    return error;
}

int InPlace_put(int directory, const char *temporary, int fd, const char *name,
                bool overwrite)
{
    int error;

    if (!temporary) {
        error = link_unnamed(directory, fd, name);
        return error == -EEXIST && overwrite ? replace(directory, fd, name)
                                             : error;
    }
    if (overwrite)
        return renameat(directory, temporary, directory, name) ? -errno : 0;
    if (renameat2(directory, temporary, directory, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    // EINVAL and ENOSYS mean that the file system does not support
    // RENAME_NOREPLACE.
    if (linkat(directory, temporary, directory, name, 0) == 0) {
        unlinkat(directory, temporary, 0);
        return 0;
    }
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP)
        return -errno;
    // An error EPERM, ENOSYS or EOPNOTSUPP of linkat() means that the file
    // system has no hard links. If another program makes a file of the same
    // name before renameat() runs, its file is overwritten.
    if (faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return renameat(directory, temporary, directory, name) ? -errno : 0;
}
