// SPDX-License-Identifier: MIT
#include "tui/attach/interpreter.h"

#include "ipc/base/opened.h"
#include "tui/attach/process_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// From 3.13 on, the struct _PyRuntime begins with this text.
#define COOKIE "xdebugpy"
// Bytes from _PyRuntimeState.interpreters.head to the main interpreter's
// address.
#define MAIN 8

// --- Search for the image of CPython

// Returns true for the program itself and for a file whose name contains
// "python". A program that contains CPython can have any name.
static bool is_likely(const char *path, const char *program)
{
    const char *slash = strrchr(path, '/');
    return strcmp(path, program) == 0 || strstr(slash ? slash : path, "python");
}

static int take_runtime(struct Interpreter *found, uint64_t base)
{
    struct Symbol runtime;
    int error = Image_load(&found->image, found->pid, base);
    if (!error)
        error = Image_find(&found->image, "_PyRuntime", &runtime);
    if (error)
        return error;
    found->runtime = runtime.address;
    found->runtime_size = runtime.size;
    return 0;
}

// Searches for _PyRuntime in the mapped files. The search begins at each file's
// mapping with the offset 0. Returns 0 or -errno. -ENOENT means that no file
// defines _PyRuntime.
static int find_runtime(struct Interpreter *found)
{
    char name[64], program[PATH_MAX] = "", *line = NULL;
    size_t size = 0;
    int error = -ENOENT;
    snprintf(name, sizeof name, "/proc/%d/exe", (int)found->pid);
    ssize_t length = readlink(name, program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    snprintf(name, sizeof name, "/proc/%d/maps", (int)found->pid);
    FILE *maps = fopen(name, "re");
    if (!maps)
        return -errno;
    while (error && error != -EPERM && getline(&line, &size, maps) > 0) {
        unsigned long long base, offset;
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%llx-%*x %*s %llx %*s %*s %n", &base, &offset, &at) ==
                2 &&
            at && !offset && line[at] == '/' && is_likely(line + at, program))
            error = take_runtime(found, base);
    }
    free(line);
    fclose(maps);
    return error;
}

// --- Checks of the interpreter

// Returns a hash of the process's auxiliary vector (a list of facts from the
// kernel), or 0 if the vector cannot be read. The vector contains random
// addresses, so the hash changes when the process runs exec.
static uint64_t program_of(pid_t pid)
{
    char path[64], given[1024];
    uint64_t hash = 5381;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    ssize_t size = Opened_read(path, given, sizeof given);
    for (ssize_t i = 0; i < size; i++)
        hash = hash * 33 + (unsigned char)given[i];
    return size > 0 ? hash : 0;
}

int Interpreter_check_same(const struct Interpreter *found, char *why,
                           size_t why_size)
{
    if (program_of(found->pid) == found->program)
        return 0;
    snprintf(why, why_size, "process %d has begun another program: try again",
             (int)found->pid);
    return -EINPROGRESS;
}

static int read_version(struct Interpreter *found)
{
    struct Symbol symbol;
    unsigned long version; // Encoded in the same way as sys.hexversion.
    int error = Image_find(&found->image, "Py_Version", &symbol);
    if (!error)
        error = ProcessMemory_read(found->pid, symbol.address, &version,
                                   sizeof version);
    if (error)
        return error;
    found->major = (unsigned)(version >> 24 & 0xff);
    found->minor = (unsigned)(version >> 16 & 0xff);
    found->patch = (unsigned)(version >> 8 & 0xff);
    return 0;
}

// Returns 0, or -ENOTSUP with the reason in `why`.
static int check_version(const struct Interpreter *found, char *why,
                         size_t why_size)
{
    unsigned minor = found->minor;
    if (found->major != 3 || minor < INTERPRETER_MINOR_LEAST)
        snprintf(why, why_size,
                 "process %d runs Python %u.%u, and Ocular needs 3.%d or newer",
                 (int)found->pid, found->major, minor, INTERPRETER_MINOR_LEAST);
    else if (minor > INTERPRETER_MINOR_MOST)
        snprintf(why, why_size,
                 "process %d runs Python 3.%u, which is newer than this Ocular "
                 "knows how to attach to (3.%d): start the program with "
                 "`python -m ocular --serve`, or get a newer Ocular",
                 (int)found->pid, minor, INTERPRETER_MINOR_MOST);
    else
        return 0;
    return -ENOTSUP;
}

// Checks three things: the cookie (debug_cookie) and the version in _PyRuntime,
// and that the build is not free-threaded. Only 3.13 and later have these
// fields.
static int check_build(struct Interpreter *found, char *why, size_t why_size)
{
    struct {
        char cookie[8];
        uint64_t version, free_threaded;
    } head;
    if (found->minor < 13)
        return 0;
    int error =
        ProcessMemory_read(found->pid, found->runtime, &head, sizeof head);
    if (error || memcmp(head.cookie, COOKIE, sizeof head.cookie) != 0 ||
        (head.version >> 16 & 0xff) != found->minor) {
        snprintf(why, why_size,
                 "process %d runs Python 3.%u, but what describes its state is "
                 "not where it should be: start the program with `python -m "
                 "ocular --serve`",
                 (int)found->pid, found->minor);
        return -ENOTSUP;
    }
    found->free_threaded = head.free_threaded != 0;
    if (!found->free_threaded)
        return 0;
    snprintf(why, why_size,
             "process %d runs a free-threaded build of Python 3.%u, which "
             "Ocular does not work on: run the program with a usual build",
             (int)found->pid, found->minor);
    return -ENOTSUP;
}

int Interpreter_find(struct Interpreter *found, pid_t pid, char *why,
                     size_t why_size)
{
    *found = (struct Interpreter){.pid = pid, .program = program_of(pid)};
    int error = find_runtime(found);
    if (error == -EACCES || error == -EPERM) {
        snprintf(why, why_size,
                 "the memory of process %d may not be read by user %u: run "
                 "this as root, or see `man ptrace`, \"ptrace_scope\"",
                 (int)pid, (unsigned)geteuid());
        return -EPERM;
    }
    if (error) {
        snprintf(why, why_size,
                 "process %d runs no CPython that can be attached to: none is "
                 "in its memory, or it is static or stripped of its symbols",
                 (int)pid);
        return -ENOEXEC;
    }
    error = read_version(found);
    if (error) {
        snprintf(why, why_size,
                 "process %d runs a Python before 3.11, and Ocular needs 3.%d "
                 "or newer",
                 (int)pid, INTERPRETER_MINOR_LEAST);
        return -ENOTSUP;
    }
    error = check_version(found, why, why_size);
    return error ? error : check_build(found, why, why_size);
}

int Interpreter_read_state(const struct Interpreter *found,
                           struct InterpreterState *state)
{
    int error = 0;
    *state = (struct InterpreterState){.offsets = {[OFFSET_FINALIZING] = 24,
                                                   [OFFSET_INTERPRETERS] = 40,
                                                   [OFFSET_THREADS] = 72}};
    if (found->minor > 12)
        error = ProcessMemory_read(found->pid, found->runtime, state->offsets,
                                   sizeof state->offsets);
    uint64_t at = found->runtime + state->offsets[OFFSET_INTERPRETERS] + MAIN;
    return error ? error
                 : ProcessMemory_read(found->pid, at, &state->main,
                                      sizeof state->main);
}
