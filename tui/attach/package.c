// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // O_PATH
#include "tui/attach/package.h"

#include "tui/model/as_user.h"
#include "tui/model/place.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Returns true if the name is that of a regular file that can be read. A pipe
// or a device is not opened, because opening it can have side effects.
static bool is_readable(int root, const char *path)
{
    char again[64];
    struct stat status;
    int fd = Place_find(root, path, O_PATH), opened = -1;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
        opened = open(again, O_RDONLY | O_CLOEXEC);
    }
    if (opened >= 0)
        close(opened);
    if (fd >= 0)
        close(fd);
    return opened >= 0;
}

// Opens folder/ocular. A symbolic link is resolved below the process's root
// directory. A link that is resolved below this program's root directory could
// lead out of the process's container.
static DIR *open_package(int root, const char *folder)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/ocular", folder);
    int fd = Place_find(root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

// Returns true if `folder`, which is below the process's root directory,
// contains the extension for the interpreter's version. The caller must run
// with the rights of the process's user.
static bool is_there(const struct Interpreter *interpreter, const char *folder)
{
    char path[64], wanted[64];
    const struct dirent *entry;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/root", (int)interpreter->pid);
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return false;
    int size = snprintf(wanted, sizeof wanted, "_ocular.cpython-3%u-",
                        interpreter->minor);
    DIR *stream = open_package(root, folder);
    while (stream && !found && (entry = readdir(stream))) {
        char file[PATH_MAX + 400];
        snprintf(file, sizeof file, "%s/ocular/%s", folder, entry->d_name);
        found = strncmp(entry->d_name, wanted, (size_t)size) == 0 &&
                is_readable(root, file);
    }
    if (stream)
        closedir(stream);
    close(root);
    return found;
}

// Folders of packages, relative to the folder of the program ocular-top, for a
// virtual environment, a system, and a build tree.
static const char *const places[] = {
    "../lib/python3.%u/site-packages",
    "../lib/python3.%u/dist-packages",
    "../lib/python3/dist-packages",
    "../cpython-3.%u.*/lib",
};

static bool find_beside(const struct Interpreter *interpreter,
                        char folder[PATH_MAX])
{
    char here[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    if (length <= 0)
        return false;
    here[length] = '\0';
    *strrchr(here, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char place[64], pattern[PATH_MAX + 80];
        glob_t all;
        bool found = false;
        // Each entry of `places` has at most one %u.
        snprintf(place, sizeof place, places[i], interpreter->minor);
        snprintf(pattern, sizeof pattern, "%s/%s", here, place);
        if (glob(pattern, 0, NULL, &all))
            continue;
        for (size_t j = 0; j < all.gl_pathc && !found; j++) {
            found = strlen(all.gl_pathv[j]) < PATH_MAX &&
                    is_there(interpreter, all.gl_pathv[j]);
            if (found)
                strcpy(folder, all.gl_pathv[j]);
        }
        globfree(&all);
        if (found)
            return true;
    }
    return false;
}

void Package_find(const struct Interpreter *interpreter, const char *wanted,
                  char folder[PATH_MAX])
{
    struct ProcessUser user;
    struct AsUser as;
    folder[0] = '\0';
    if (Process_user(&user, interpreter->pid) || AsUser_begin(&as, &user))
        return;
    if (wanted && *wanted == '/' && strlen(wanted) < PATH_MAX &&
        is_there(interpreter, wanted))
        strcpy(folder, wanted);
    else if (!find_beside(interpreter, folder))
        folder[0] = '\0';
    AsUser_end(&as);
}
