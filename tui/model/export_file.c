// SPDX-License-Identifier: MIT
// If the final name is a symbolic link, the link itself is replaced. The link
// is not followed, because the process may have made it.
#include "tui/model/export_file.h"

#include "ipc/base/in_place.h"
#include "tui/model/as_user.h"
#include "tui/model/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS 100

// --- Where it goes

// Returns 0 if `path` is a regular file or a link to a regular file, or if
// `path` does not exist. Otherwise returns -errno.
static int check_kind(int root, const char *path)
{
    struct stat status;
    int found = Place_find(root, path, O_PATH), error = 0;
    if (found == -ENOENT)
        return 0;
    if (found < 0)
        return found;
    if (fstat(found, &status))
        error = -errno;
    else if (!S_ISREG(status.st_mode))
        error = S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
    close(found);
    return error;
}

static int check_target(const struct ExportFile *file, int root)
{
    struct stat status;
    int error = check_kind(root, file->path);
    if (error)
        return error;
    if (fstatat(file->directory, file->name, &status, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : -errno;
    return file->overwrite ? 0 : -EEXIST;
}

// Returns a descriptor of the directory of the export, or -errno.
static int open_directory(const struct ExportFile *file, int root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", (int)(file->name - file->path),
             file->path);
    return Place_find(root, path, O_PATH | O_DIRECTORY);
}

static int split_path(struct ExportFile *file)
{
    file->name = strrchr(file->path, '/') + 1;
    if (!*file->name || !strcmp(file->name, ".") || !strcmp(file->name, ".."))
        return -EISDIR;
    return strlen(file->name) <= NAME_MAX ? 0 : -ENAMETOOLONG;
}

// --- The temporary

static int open_temporary(struct ExportFile *file)
{
    file->fd = InPlace_open_unnamed(file->directory, ".");
    if (file->fd >= 0)
        return 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        snprintf(file->temporary, sizeof file->temporary, ".ocular-%ld-%d.tmp",
                 (long)getpid(), i);
        file->fd =
            openat(file->directory, file->temporary,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file->fd >= 0 || errno != EEXIST)
            return file->fd < 0 ? -errno : 0;
    }
    return -EEXIST;
}

static int open_at(struct ExportFile *file, int root)
{
    struct AsUser as;
    int error = AsUser_begin(&as, &file->user);
    if (error)
        return error;
    file->directory = open_directory(file, root);
    error = file->directory < 0 ? file->directory : check_target(file, root);
    if (!error)
        error = open_temporary(file);
    AsUser_end(&as);
    if (error && file->directory >= 0)
        close(file->directory);
    return error;
}

int ExportFile_open(struct ExportFile *file, pid_t pid, const char *path,
                    bool overwrite)
{
    int root, error = 0;
    memset(file, 0, sizeof *file);
    file->overwrite = overwrite;
    file->pid = pid;
    if (pid && geteuid() == 0)
        error = Process_user(&file->user, pid);
    if (error)
        return error;
    // /proc is read with the viewer's own rights, because the process's user
    // may not be able to read it.
    if (!Place_absolute(file->path, pid, path))
        return strlen(path) < PATH_MAX ? -EACCES : -ENAMETOOLONG;
    error = split_path(file);
    if (error)
        return error;
    root = Place_root(pid);
    if (root < 0)
        return -errno;
    error = open_at(file, root);
    close(root);
    file->there = !error;
    return error;
}

static int put_in_place(const struct ExportFile *file)
{
    struct AsUser as;
    int error = AsUser_begin(&as, &file->user);
    if (error)
        return error;
    error =
        InPlace_put(file->directory, *file->temporary ? file->temporary : NULL,
                    file->fd, file->name, file->overwrite);
    AsUser_end(&as);
    return error;
}

static void let_go(struct ExportFile *file)
{
    close(file->fd);
    close(file->directory);
    file->there = false;
}

int ExportFile_commit(struct ExportFile *file, uint64_t bytes)
{
    struct stat status;
    int error = 0;
    if (fstat(file->fd, &status))
        error = -errno;
    else if ((uint64_t)status.st_size != bytes)
        error = -EIO;
    if (!error)
        error = put_in_place(file);
    if (error)
        ExportFile_drop(file);
    else
        let_go(file);
    return error;
}

void ExportFile_drop(struct ExportFile *file)
{
    struct AsUser as;
    if (!file->there)
        return;
    if (*file->temporary && AsUser_begin(&as, &file->user) == 0) {
        unlinkat(file->directory, file->temporary, 0);
        AsUser_end(&as);
    }
    let_go(file);
}
