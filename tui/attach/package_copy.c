// SPDX-License-Identifier: MIT
// The process's root directory can belong to another user, who could rename
// files while they are copied. Each folder is therefore opened only once,
// relative to the descriptor of its parent, and symbolic links are not
// followed. New files are created with the rights of the process's user. Ocular
// writes and removes only files that belong to this user.
#include "tui/attach/package_copy.h"

#include "tui/model/as_user.h"
#include "tui/model/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

// The name of a copy's folder consists of this text and the process's number.
#define PREFIX "ocular-package-"
#define NAME_SIZE 64
#define DEPTH_MOST 4 // Maximum depth of folders that Ocular removes.
#define OPEN_FOLDER (O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static const char *const places[] = {"tmp", "dev/shm"};

// Returns 0 if the process's user can create files in the folder, and if shared
// libraries can be loaded from it. Otherwise returns -errno.
static int check_place(int place)
{
    struct statvfs system;
    if (fstatvfs(place, &system))
        return -errno;
    if (system.f_flag & ST_RDONLY)
        return -EROFS;
    return system.f_flag & ST_NOEXEC ? -ENOEXEC : 0;
}

// --- Removal of copies

static bool is_of(int folder, const struct ProcessUser *user)
{
    struct stat status;
    return fstat(folder, &status) == 0 && status.st_uid == user->uid;
}

// Opens the folder for listing its files. Returns NULL if the folder cannot be
// opened or does not belong to `user`.
static DIR *open_entries(int parent, const char *name,
                         const struct ProcessUser *user)
{
    int fd = openat(parent, name, O_RDONLY | OPEN_FOLDER);
    DIR *entries = fd >= 0 && is_of(fd, user) ? fdopendir(fd) : NULL;
    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

// Removes the folder `name` if it belongs to `user`, so that root does not
// remove folders of other users.
static void remove_tree(int parent, const char *name,
                        const struct ProcessUser *user, int depth)
{
    const struct dirent *entry;
    DIR *entries = open_entries(parent, name, user);
    if (!entries)
        return;
    while ((entry = readdir(entries))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(entries), entry->d_name, 0) && depth < DEPTH_MOST)
            remove_tree(dirfd(entries), entry->d_name, user, depth + 1);
    }
    closedir(entries);
    unlinkat(parent, name, AT_REMOVEDIR);
}

static bool lives(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

// Removes the copies for process `pid`, and the copies for processes that have
// ended.
static void clean_place(int place, pid_t pid, const struct ProcessUser *user)
{
    const struct dirent *entry;
    int fd = openat(place, ".", O_RDONLY | OPEN_FOLDER);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !entries)
        close(fd);
    while (entries && (entry = readdir(entries))) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        pid_t its = (pid_t)strtol(entry->d_name + strlen(PREFIX), NULL, 10);
        if (its > 0 && (its == pid || !lives(its)))
            remove_tree(place, entry->d_name, user, 0);
    }
    if (entries)
        closedir(entries);
}

void PackageCopy_remove(pid_t pid)
{
    struct ProcessUser user;
    struct AsUser as;
    if (Process_user(&user, pid))
        return;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int place = Place_folder(pid, places[i]);
        if (place < 0)
            continue;
        if (!AsUser_begin(&as, &user)) {
            clean_place(place, pid, &user);
            AsUser_end(&as);
        }
        close(place);
    }
}

// --- Making a copy

struct PackageCopy {
    const struct Interpreter *interpreter;
    struct ProcessUser user;
};

static int copy_bytes(int from, int to)
{
    char buffer[65536];
    ssize_t got;
    while ((got = read(from, buffer, sizeof buffer)) > 0) {
        ssize_t written = write(to, buffer, (size_t)got);
        if (written != got)
            return written < 0 ? -errno : -ENOSPC;
    }
    return got < 0 ? -errno : 0;
}

// Reads the file with this program's rights, and creates the copy with the
// rights of the process's user.
static int copy_file(const struct PackageCopy *package, int from, int to,
                     const char *name)
{
    struct AsUser as;
    struct stat status = {0};
    int source = openat(from, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), copy;
    int error = source < 0 || fstat(source, &status) ? -errno : 0;
    if (!error && S_ISREG(status.st_mode)) {
        error = AsUser_begin(&as, &package->user);
        if (!error) {
            copy = openat(to, name,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          0600);
            error = copy < 0 ? -errno : 0;
            AsUser_end(&as);
        }
        if (!error) {
            error = copy_bytes(source, copy);
            close(copy);
        }
    }
    if (source >= 0)
        close(source);
    return error;
}

// Returns true for the files that are copied: Python files, the extension for
// the interpreter's version, and all files in a folder of libraries.
static bool is_needed(const struct PackageCopy *package, const char *folder,
                      const char *name)
{
    char extension[NAME_SIZE];
    size_t length = strlen(name);
    if (*name == '.')
        return false;
    if (strcmp(folder, "ocular") != 0)
        return true;
    int size = snprintf(extension, sizeof extension, "_ocular.cpython-3%u-",
                        package->interpreter->minor);
    return (length > 3 && strcmp(name + length - 3, ".py") == 0) ||
           strncmp(name, extension, (size_t)size) == 0;
}

// Makes the folder `name` in `parent` as the process's user. Returns a
// descriptor or -errno.
static int make_folder(const struct PackageCopy *package, int parent,
                       const char *name)
{
    struct AsUser as;
    int error = AsUser_begin(&as, &package->user), fd = -1;
    if (error)
        return error;
    if (!mkdirat(parent, name, 0700))
        fd = openat(parent, name, O_RDONLY | OPEN_FOLDER);
    error = fd < 0 ? -errno : fd;
    AsUser_end(&as);
    // In the meantime another user may have replaced the new folder by another
    // one.
    if (fd >= 0 && !is_of(fd, &package->user)) {
        close(fd);
        return -EPERM;
    }
    return error;
}

// Copies the files in source/name into a new folder `name` in `parent`.
static int copy_folder(const struct PackageCopy *package, const char *source,
                       int parent, const char *name)
{
    char path[PATH_MAX + NAME_SIZE];
    const struct dirent *entry;
    int error = 0;
    snprintf(path, sizeof path, "%s/%s", source, name);
    DIR *entries = opendir(path);
    if (!entries)
        return -errno;
    int to = make_folder(package, parent, name);
    while (to >= 0 && !error && (entry = readdir(entries)))
        if (is_needed(package, name, entry->d_name))
            error = copy_file(package, dirfd(entries), to, entry->d_name);
    closedir(entries);
    if (to >= 0)
        close(to);
    return to < 0 ? to : error;
}

// The folder ocular_top.libs of a wheel contains the libraries that the
// extension needs.
static int copy_package(const struct PackageCopy *package, const char *source,
                        int place)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, PREFIX "%d", (int)package->interpreter->pid);
    int error = check_place(place);
    int folder = error ? error : make_folder(package, place, name);
    if (folder < 0)
        return folder;
    error = copy_folder(package, source, folder, "ocular");
    if (!error)
        error = copy_folder(package, source, folder, "ocular_top.libs");
    close(folder);
    return error == -ENOENT ? 0 : error;
}

int PackageCopy_make(const struct Interpreter *interpreter, const char *source,
                     char folder[PATH_MAX], char *why, size_t why_size)
{
    struct PackageCopy package = {.interpreter = interpreter};
    pid_t pid = interpreter->pid;
    int error = Process_user(&package.user, pid);
    if (error)
        return error;
    PackageCopy_remove(pid);
    size_t used =
        (size_t)snprintf(why, why_size, "ours cannot be copied there:");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int place = Place_folder(pid, places[i]);
        error = place < 0 ? place : copy_package(&package, source, place);
        if (place >= 0)
            close(place);
        if (!error) {
            snprintf(folder, PATH_MAX, "/%s/" PREFIX "%d", places[i], (int)pid);
            return 0;
        }
        used += (size_t)snprintf(
            why + used, why_size - used, "%s /%s: %s", i ? "," : "", places[i],
            error == -ENOEXEC ? "mounted noexec" : strerror(-error));
    }
    PackageCopy_remove(pid);
    return error;
}
