// SPDX-License-Identifier: MIT
#include "tui/attach/others.h"

#include "ipc/address.h"
#include "ipc/process.h"
#include "tui/attach/attach.h"
#include "tui/attach/package.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A process younger than YOUNG_S seconds might still load an interpreter.
#define YOUNG_S 10

// Identifies a process that runs no Python. All fields are compared, because
// exec changes the program of a process, and because the kernel reuses process
// ids.
struct NoPython {
    uint64_t start;
    pid_t pid;
    dev_t device; // Device and inode of the program's file.
    ino_t inode;
};

static void identify(struct NoPython *process, pid_t pid)
{
    char path[64];
    struct stat program = {0};
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    if (stat(path, &program))
        memset(&program, 0, sizeof program);
    *process = (struct NoPython){Process_start(pid), pid, program.st_dev,
                                 program.st_ino};
}

static bool is_known(const struct Others *others,
                     const struct NoPython *process)
{
    for (size_t i = 0; i < others->rest_count; i++) {
        const struct NoPython *each = &others->rest[i];
        if (each->pid == process->pid)
            return each->start == process->start &&
                   each->device == process->device &&
                   each->inode == process->inode;
    }
    return false;
}

static bool begins_with_python(const char *path)
{
    size_t length = strcspn(path, " ");
    while (length > 0 && path[length - 1] != '/')
        length--;
    return strncmp(path + length, "python", 6) == 0;
}

// If the process's memory cannot be read, the program's name decides whether it
// is Python.
static bool is_called_python(const struct Other *other)
{
    char path[64], program[PATH_MAX] = "";
    snprintf(path, sizeof path, "/proc/%d/exe", (int)other->pid);
    ssize_t length = readlink(path, program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    return begins_with_python(program) || begins_with_python(other->command);
}

// Returns a short text for an error of Attach_check, which decides whether
// attaching is possible.
static const char *short_words(const struct Interpreter *interpreter, int error,
                               bool package)
{
    if (!error)
        return package ? "Enter attaches" : "needs an Ocular";
    if (error == -EPERM)
        return geteuid() ? "needs root" : "not allowed";
    if (error == -EBUSY)
        return "held by a debugger";
    if (error == -EAGAIN)
        return "stopped";
    if (error == -EACCES)
        return "closed to debuggers";
    if (error == -ENOEXEC)
        return "static or stripped";
    if (interpreter->free_threaded)
        return "free-threaded";
    if (interpreter->minor > INTERPRETER_MINOR_MOST)
        return "too new";
    return interpreter->minor < INTERPRETER_MINOR_LEAST ? "too old"
                                                        : "unknown build";
}

// Returns true if the process already serves viewers. Ocular does not attach to
// a process that already serves viewers. A process that serves in another
// OCULAR_DIR or in a container is not in the list of the processes that serve
// viewers.
static bool serves(struct Other *other)
{
    struct Served served;
    char why[256];
    if (Address_find(&served, other->pid, why, sizeof why))
        return false;
    snprintf(other->why, sizeof other->why,
             "process %d serves already: ocular-top --pid %d shows it",
             (int)other->pid, (int)other->pid);
    return true;
}

// Returns false if the process probably does not run Python.
static bool judge(struct Other *other, const char *package)
{
    struct Interpreter interpreter = {0};
    char folder[PATH_MAX] = "";
    const char *words;
    int error =
        Attach_check(&interpreter, other->pid, other->why, sizeof other->why);
    if ((error == -ENOEXEC || !interpreter.runtime) && !is_called_python(other))
        return false;
    // This program's own Ocular is looked up, because a process that cannot
    // read it gets a copy.
    interpreter.pid = getpid();
    if (!error)
        Package_find(&interpreter, package, folder);
    words = short_words(&interpreter, error, *folder);
    if (!error && serves(other))
        words = "serves elsewhere";
    if (interpreter.major)
        snprintf(other->takes, sizeof other->takes, "%u.%u.%u: %s",
                 interpreter.major, interpreter.minor, interpreter.patch,
                 words);
    else
        snprintf(other->takes, sizeof other->takes, "%s", words);
    return true;
}

// --- The list of processes

// Makes the array larger if it is full. Returns false if memory is out.
static bool grow(void *array, size_t count, size_t size)
{
    void **items = array;
    // The array is full exactly if its count is a power of two.
    if (count & (count - 1))
        return true;
    void *larger = realloc(*items, (count ? 2 * count : 1) * size);
    if (larger)
        *items = larger;
    return larger != NULL;
}

// Returns true if the process belongs on the list. If the program of a process
// is not visible, the process is a kernel thread, or the kernel hides the
// program from this user.
static bool is_other(struct Other *other, const struct NoPython *self,
                     const char *package)
{
    struct Process process;
    if (Process_look(&process, self->pid) ||
        (geteuid() == 0 ? !self->inode : process.uid != geteuid()))
        return false;
    other->uid = process.uid;
    Process_command(self->pid, other->command, sizeof other->command);
    return judge(other, package);
}

// Returns 0 or -ENOMEM.
static int take(struct Others *now, const struct Others *before, pid_t pid,
                const char *package)
{
    struct NoPython self;
    struct Other other = {.pid = pid};
    identify(&self, pid);
    bool known = is_known(before, &self);
    if (!known) {
        if (is_other(&other, &self, package)) {
            if (!grow(&now->items, now->count, sizeof other))
                return -ENOMEM;
            now->items[now->count++] = other;
            return 0;
        }
        if (!(Process_age_s(pid) > YOUNG_S))
            return 0;
    }
    if (!grow(&now->rest, now->rest_count, sizeof self))
        return -ENOMEM;
    now->rest[now->rest_count++] = self;
    return 0;
}

static int by_pid(const void *a, const void *b)
{
    pid_t x = ((const struct Other *)a)->pid;
    pid_t y = ((const struct Other *)b)->pid;
    return (x > y) - (x < y);
}

int Others_refresh(struct Others *others, const char *package)
{
    struct Others now = {0};
    const struct dirent *entry;
    int error = 0;
    DIR *all = opendir("/proc");
    if (!all)
        return -errno;
    while (!error && (entry = readdir(all))) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0)
            error = take(&now, others, (pid_t)pid, package);
    }
    closedir(all);
    if (now.count)
        qsort(now.items, now.count, sizeof *now.items, by_pid);
    Others_release(error ? &now : others);
    if (!error)
        *others = now;
    return error;
}

void Others_release(struct Others *others)
{
    free(others->items);
    free(others->rest);
    *others = (struct Others){0};
}
