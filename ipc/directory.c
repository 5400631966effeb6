// SPDX-License-Identifier: MIT
// Implements the rules that keep other users away from the sockets
// (docs/protocol.md). address.c calls these functions on the thread that starts
// tracing. If the directory of the sockets has vanished, the server's thread
// calls these functions.
#define _GNU_SOURCE 1 // O_PATH
#include "ipc/directory.h"
#include "ipc/base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Fills `why` and returns `error`, so that a caller can write `return
// refuse(...)`.
__attribute__((format(printf, 4, 5))) static int
refuse(int error, char *why, size_t why_size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, why_size, format, arguments);
    va_end(arguments);
    return error;
}

// Returns true if the process's user owns the runtime directory. The user did
// not choose the runtime directory, which $XDG_RUNTIME_DIR names. If
// $XDG_RUNTIME_DIR belongs to another user (su, sudo -E) or logind has removed
// it, Directory_choose skips it without an error.
static int is_ours(const char *path)
{
    struct stat status;

    return *path == '/' && stat(path, &status) == 0 &&
           S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

int Directory_choose(char *path, size_t size, char *why, size_t why_size)
{
    const char *chosen = getenv("OCULAR_DIR");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    size_t length;
    int wanted;

    if (chosen && *chosen && *chosen != '/')
        return refuse(-EINVAL, why, why_size,
                      "OCULAR_DIR=%.200s is not an absolute path", chosen);
    if (chosen && *chosen)
        wanted = snprintf(path, size, "%s", chosen);
    else if (runtime && is_ours(runtime))
        wanted = snprintf(path, size, "%s/ocular", runtime);
    else
        wanted = snprintf(path, size, "/tmp/ocular-%u", (unsigned)geteuid());
    if ((size_t)wanted >= size)
        return refuse(-ENAMETOOLONG, why, why_size,
                      "the directory for sockets, %.60s..., is too long for a "
                      "socket's path; set OCULAR_DIR to a shorter one",
                      path);
    // Removes slashes at the end of the path. open() with O_NOFOLLOW refuses a
    // symlink "link", but it follows "link/".
    for (length = strlen(path); length > 1 && path[length - 1] == '/';)
        path[--length] = '\0';
    return 0;
}

static int check(int fd, const char *path, char *why, size_t why_size)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        return refuse(-errno, why, why_size, "%s: %s", path, strerror(errno));
    if (S_ISLNK(status.st_mode))
        return refuse(-ELOOP, why, why_size,
                      "%s is a symbolic link, which could lead anywhere; "
                      "remove it or set OCULAR_DIR to a directory",
                      path);
    if (!S_ISDIR(status.st_mode))
        return refuse(-ENOTDIR, why, why_size,
                      "%s is not a directory; remove it or set OCULAR_DIR",
                      path);
    if (status.st_uid != geteuid())
        return refuse(-EPERM, why, why_size,
                      "%s belongs to user %u, not to you (user %u); set "
                      "OCULAR_DIR to a directory of your own",
                      path, (unsigned)status.st_uid, (unsigned)geteuid());
    if (status.st_mode & 077)
        return refuse(-EPERM, why, why_size,
                      "%s is open to other users (mode %03o); chmod 700 it or "
                      "set OCULAR_DIR to another directory",
                      path, (unsigned)status.st_mode & 0777);
    return 0;
}

// Gives the process's user all rights to the new directory, because a strict
// umask may have taken some of them away. Uses the directory's descriptor to
// set the rights, because its name may belong to another file by now.
static void restore_mode(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    chmod(path, 0700);
}

int Directory_make(const char *path, char *why, size_t why_size)
{
    int made = mkdir(path, 0700) == 0;
    int error = made ? 0 : errno;
    struct Opened opened;
    int fd;

    if (error && error != EEXIST)
        return refuse(-error, why, why_size,
                      "cannot make the directory %s: %s; set OCULAR_DIR to one "
                      "that you can write to",
                      path, strerror(error));
    fd = Opened_above(open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (fd < 0)
        return refuse(fd, why, why_size, "cannot open the directory %s: %s",
                      path, strerror(-fd));
    Opened_note(&opened, fd);
    error = check(fd, path, why, why_size);
    if (made && !error)
        restore_mode(fd);
    Opened_close(&opened, fd);
    return error;
}
