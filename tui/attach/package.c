// SPDX-License-Identifier: MIT
// See package.h.
#include "tui/attach/package.h"

#include "tui/model/as_user.h"

#include <dirent.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Is the extension for that version there, where the process looks, and with
// the rights of its user?
static bool is_there(const struct Interpreter *interpreter, const char *folder)
{
    char path[PATH_MAX + 64], wanted[64];
    const struct dirent *entry;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/root%s/ocular", (int)interpreter->pid,
             folder);
    int size = snprintf(wanted, sizeof wanted, "_ocular.cpython-3%u-",
                        interpreter->minor);
    DIR *stream = opendir(path);
    while (stream && !found && (entry = readdir(stream))) {
        if (strncmp(entry->d_name, wanted, (size_t)size) != 0)
            continue;
        char file[PATH_MAX + 400];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        FILE *extension = fopen(file, "re");
        found = extension != NULL;
        if (extension)
            fclose(extension);
    }
    if (stream)
        closedir(stream);
    return found;
}

// Relative to the folder of this program: an environment, a system, a build
// tree.
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
        // Each has one place for the number, or none.
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
