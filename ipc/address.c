// SPDX-License-Identifier: MIT
// Finds the path for this process's socket, the socket of another process, and
// all existing sockets. The kernel reports which process listens at a socket.
// The pid in a socket's name is not enough, because it may mean another process
// in another pid namespace.
#define _GNU_SOURCE 1 // O_NOFOLLOW, getdents64
#include "ipc/address.h"

#include "ipc/base/opened.h"
#include "ipc/directory.h"
#include "ipc/process.h"
#include "ipc/socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".sock"

// --- The directories in which a process may have its socket

// The directories that are named in the environment of the process and of the
// caller, and the usual directories.
struct Places {
    char directories[10][ADDRESS_MAX];
    unsigned count;
};

// Returns true if the environment variable is set and not empty.
static bool Places_is_set(const char *variable)
{
    return variable && *variable;
}

// Adds a directory to the list, unless the list is full or already has it. A
// path that is relative or too long is not added.
__attribute__((format(printf, 2, 3))) static void
Places_add(struct Places *places, const char *format, ...)
{
    char *place = places->directories[places->count];
    va_list arguments;
    int wanted;

    if (places->count ==
        sizeof(places->directories) / sizeof(places->directories[0]))
        return;
    va_start(arguments, format);
    wanted = vsnprintf(place, ADDRESS_MAX, format, arguments);
    va_end(arguments);
    if (wanted >= ADDRESS_MAX || *place != '/')
        return; // A socket's directory must have a short and absolute path.
    for (unsigned i = 0; i < places->count; i++) {
        if (!strcmp(places->directories[i], place))
            return;
    }
    places->count++;
}

// Adds the directories that are named in the environment of this process.
static void Places_add_own(struct Places *places)
{
    const char *chosen = getenv("OCULAR_DIR");
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (Places_is_set(chosen))
        Places_add(places, "%s", chosen);
    if (Places_is_set(runtime))
        Places_add(places, "%s/ocular", runtime);
}

// Adds the directories in which a user's processes usually have their sockets.
// `root` is put before the path of each directory. `root` is "" for this
// process's own root directory.
static void Places_add_usual(struct Places *places, const char *root, uid_t uid)
{
    Places_add(places, "%s/run/user/%u/ocular", root, (unsigned)uid);
    Places_add(places, "%s/tmp/ocular-%u", root, (unsigned)uid);
}

// Adds the directories that were named in the environment of process `pid` when
// it was started. `root` is put before the path of each directory.
static void Places_add_its(struct Places *places, const char *root, pid_t pid)
{
    char value[ADDRESS_MAX];

    if (Process_variable(pid, "OCULAR_DIR", value, sizeof(value)) > 0)
        Places_add(places, "%s%s", root, value);
    if (Process_variable(pid, "XDG_RUNTIME_DIR", value, sizeof(value)) > 0)
        Places_add(places, "%s%s/ocular", root, value);
}

// --- Where to serve

// Returns the length of the socket's path. A path of ADDRESS_MAX bytes or more
// is cut off.
static int name_socket(char path[ADDRESS_MAX], const char *directory, pid_t pid)
{
    return snprintf(path, ADDRESS_MAX, "%s/%d" SUFFIX, directory, (int)pid);
}

static int name_own(char path[ADDRESS_MAX], const char *directory, pid_t pid,
                    char *why, size_t why_size)
{
    int wanted = name_socket(path, directory, pid);

    if (wanted < ADDRESS_MAX)
        return 0;
    snprintf(why, why_size,
             "the socket's path %.60s... is %d bytes long and may be %d; set "
             "OCULAR_DIR to a shorter directory",
             directory, wanted, ADDRESS_MAX - 1);
    return -ENAMETOOLONG;
}

int Address_prepare(char path[ADDRESS_MAX], pid_t pid, char *why,
                    size_t why_size)
{
    char directory[ADDRESS_MAX];
    int error;

    why[0] = '\0';
    error = Directory_choose(directory, sizeof(directory), why, why_size);
    if (!error)
        error = name_own(path, directory, pid, why, why_size);
    if (!error)
        error = Directory_make(directory, why, why_size);
    return error;
}

int Address_restore(char path[ADDRESS_MAX], pid_t pid)
{
    char directory[ADDRESS_MAX], why[8];
    char *slash;

    memcpy(directory, path, ADDRESS_MAX);
    slash = strrchr(directory, '/');
    if (slash && slash != directory) {
        *slash = '\0';
        if (Directory_make(directory, why, sizeof(why)) == 0)
            return 0;
    }
    // If logind has removed /run/user/UID, this process cannot make this
    // directory again, because it does not own the parent directory.
    snprintf(directory, sizeof(directory), "/tmp/ocular-%u",
             (unsigned)geteuid());
    if (name_socket(path, directory, pid) >= ADDRESS_MAX)
        return -ENAMETOOLONG;
    return Directory_make(directory, why, sizeof(why));
}

// --- Trying one socket

enum Answer { ANSWER_NONE, ANSWER_STALE, ANSWER_DENIED, ANSWER_LIVE };

// Removes a socket at which no process listens any more. Compares the socket's
// inode, because another process may have bound a new socket at the same path
// in the meantime.
static void remove_stale(const char *path, const struct stat *seen)
{
    struct stat now;

    if (lstat(path, &now) == 0 && S_ISSOCK(now.st_mode) &&
        now.st_uid == geteuid() && now.st_ino == seen->st_ino &&
        now.st_dev == seen->st_dev)
        unlink(path);
}

static enum Answer ask(const char *path, bool clean, struct Peer *peer)
{
    struct stat seen;
    int fd;

    memset(peer, 0, sizeof(*peer));
    if (lstat(path, &seen) < 0)
        return errno == EACCES ? ANSWER_DENIED : ANSWER_NONE;
    if (!S_ISSOCK(seen.st_mode))
        return ANSWER_NONE;
    fd = Socket_connect(path, peer);
    if (fd >= 0) {
        close(fd);
        return ANSWER_LIVE;
    }
    // If connect() finds the queue of connections full, the process is alive,
    // too.
    if (fd == -EAGAIN) {
        peer->uid = seen.st_uid;
        return ANSWER_LIVE;
    }
    if (fd == -ECONNREFUSED && clean)
        remove_stale(path, &seen);
    return fd == -ECONNREFUSED             ? ANSWER_STALE
           : fd == -EACCES || fd == -EPERM ? ANSWER_DENIED
                                           : ANSWER_NONE;
}

// --- One process

struct Search {
    struct Served *found;
    struct Process process;
    bool stale;
    bool denied;
};

static bool try_name(struct Search *search, const char *directory, pid_t number,
                     bool clean)
{
    char *path = search->found->path;
    enum Answer answer;
    struct Peer peer;

    if (name_socket(path, directory, number) >= ADDRESS_MAX)
        return false;
    answer = ask(path, clean, &peer);
    search->stale |= answer == ANSWER_STALE;
    search->denied |= answer == ANSWER_DENIED;
    return answer == ANSWER_LIVE &&
           (!peer.pid || peer.pid == search->process.pid);
}

static bool try_places(struct Search *search, const struct Places *places,
                       bool clean)
{
    const struct Process *process = &search->process;

    for (unsigned i = 0; i < places->count; i++) {
        const char *directory = places->directories[i];

        if (try_name(search, directory, process->pid, clean) ||
            (process->inner_pid != process->pid &&
             try_name(search, directory, process->inner_pid, clean)))
            return true;
    }
    return false;
}

static bool search_everywhere(struct Search *search)
{
    const struct Process *process = &search->process;
    struct Places places = {.count = 0};
    char root[64];

    Places_add_own(&places);
    Places_add_usual(&places, "", process->uid);
    Places_add_its(&places, "", process->pid);
    if (try_places(search, &places, true))
        return true;
    places.count = 0;
    snprintf(root, sizeof(root), "/proc/%d/root", (int)process->pid);
    Places_add_its(&places, root, process->pid);
    Places_add_usual(&places, root, process->inner_uid);
    // The sockets below /proc/PID/root belong to the other process, so this
    // process must not remove them.
    return try_places(search, &places, false);
}

static int explain(const struct Search *search, char *why, size_t why_size)
{
    if (search->denied) {
        snprintf(why, why_size,
                 "the socket of process %d may not be used by user %u: run "
                 "ocular-top as the user of that process, or as root",
                 (int)search->process.pid, (unsigned)geteuid());
        return -EACCES;
    }
    snprintf(why, why_size,
             "process %d (%.60s) does not serve%s. Start it with `python -m "
             "ocular --serve script.py`, or have it call "
             "ocular.start_tracing(serve=True), or attach to it as it runs: "
             "ocular-top --attach --pid %d",
             (int)search->process.pid, search->found->command,
             search->stale ? " any more (it left a stale socket)" : "",
             (int)search->process.pid);
    return -ENOENT;
}

int Address_find(struct Served *found, pid_t pid, char *why, size_t why_size)
{
    struct Search search = {.found = found};
    int error = Process_look(&search.process, pid);

    memset(found, 0, sizeof(*found));
    why[0] = '\0';
    if (error == -ESRCH)
        snprintf(why, why_size, "there is no process %d", (int)pid);
    if (!error && geteuid() != 0 && search.process.uid != geteuid())
        error = -EACCES;
    if (error == -EACCES)
        snprintf(why, why_size,
                 "process %d belongs to another user: run ocular-top as that "
                 "user, or as root",
                 (int)pid);
    if (error)
        return error;
    found->pid = pid;
    found->uid = search.process.uid;
    Process_command(pid, found->command, sizeof(found->command));
    if (search_everywhere(&search))
        return 0;
    found->path[0] = '\0';
    return explain(&search, why, why_size);
}

// --- All processes

struct Listing {
    struct Served *items;
    size_t count;
    int error;
};

static void add_served(struct Listing *list, pid_t pid, uid_t uid,
                       const char *path)
{
    struct Served *items = list->items;

    for (size_t i = 0; i < list->count; i++) {
        if (items[i].pid == pid)
            return; // The process was already found by another path.
    }
    if (geteuid() != 0 && uid != geteuid())
        return;
    items = realloc(items, (list->count + 1) * sizeof(*items));
    if (!items) {
        list->error = -ENOMEM;
        return;
    }
    list->items = items;
    items += list->count++;
    memset(items, 0, sizeof(*items));
    items->pid = pid;
    items->uid = uid;
    snprintf(items->path, sizeof(items->path), "%s", path);
    Process_command(pid, items->command, sizeof(items->command));
}

// Returns the number in a name like "123.sock", or 0.
static pid_t number_of(const char *name)
{
    char *end;
    long number;

    if (*name < '1' || *name > '9')
        return 0;
    errno = 0;
    number = strtol(name, &end, 10);
    if (errno || number > INT_MAX || strcmp(end, SUFFIX))
        return 0;
    return (pid_t)number;
}

static void list_entry(void *list, const char *directory, const char *name)
{
    char path[ADDRESS_MAX];
    pid_t number = number_of(name);
    struct Peer peer;

    if (!number || name_socket(path, directory, number) >= ADDRESS_MAX)
        return;
    if (ask(path, true, &peer) == ANSWER_LIVE)
        add_served(list, peer.pid ? peer.pid : number, peer.uid, path);
}

// Returns true if only the owner can write to the directory. The owner must be
// the caller's user. For root any owner is allowed, because root lists the
// directories of all users.
static bool is_safe(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && !(status.st_mode & 022) &&
           (geteuid() == 0 || status.st_uid == geteuid());
}

// Calls `take` for each name in a directory, unless other users can write to
// the directory or `path` is a symlink. Reads the directory by getdents64()
// instead of readdir(), because closedir() could close a descriptor number that
// the program has taken.
static void read_directory(const char *path,
                           void (*take)(void *context, const char *path,
                                        const char *name),
                           void *context)
{
    _Alignas(struct dirent64) char entries[2048];
    struct Opened opened;
    long got = 0;
    int fd = Opened_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

    if (fd < 0)
        return;
    Opened_note(&opened, fd);
    if (is_safe(fd))
        got = getdents64(fd, entries, sizeof(entries));
    while (got > 0) {
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (void *)(entries + at);

            take(context, path, entry->d_name);
            at += entry->d_reclen;
        }
        got = Opened_holds(&opened, fd)
                  ? getdents64(fd, entries, sizeof(entries))
                  : 0;
    }
    Opened_close(&opened, fd);
}

// For root, lists the processes that serve in the usual directories of all
// users.
static void list_users(struct Listing *list)
{
    glob_t found = {0};

    glob("/run/user/*/ocular", 0, NULL, &found);
    glob("/tmp/ocular-*", GLOB_APPEND, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_directory(found.gl_pathv[i], list_entry, list);
    globfree(&found);
}

static int by_pid(const void *a, const void *b)
{
    pid_t x = ((const struct Served *)a)->pid;
    pid_t y = ((const struct Served *)b)->pid;

    return (x > y) - (x < y);
}

long Address_list(struct Served **served)
{
    struct Listing list = {.items = NULL};
    struct Places places = {.count = 0};
    const char *chosen = getenv("OCULAR_DIR");
    // If OCULAR_DIR names a directory, only its sockets are listed.
    bool alone = Places_is_set(chosen);

    if (alone) {
        Places_add(&places, "%s", chosen);
    } else {
        Places_add_own(&places);
        Places_add_usual(&places, "", geteuid());
    }
    for (unsigned i = 0; i < places.count; i++)
        read_directory(places.directories[i], list_entry, &list);
    if (geteuid() == 0 && !alone)
        list_users(&list);
    *served = NULL;
    if (list.error) {
        free(list.items);
        return list.error;
    }
    if (list.count)
        qsort(list.items, list.count, sizeof(*list.items), by_pid);
    *served = list.items;
    return (long)list.count;
}

// --- What others have left

// Removes the socket of a process that no longer exists. A process may not be
// visible here because it runs in another pid namespace. sweep_entry() tries to
// connect to the socket before it removes it, because its process may not be
// visible here.
static void sweep_entry(void *context, const char *directory, const char *name)
{
    char path[ADDRESS_MAX], process[32];
    pid_t number = number_of(name);
    struct stat status;
    struct Peer peer;

    (void)context;
    snprintf(process, sizeof(process), "/proc/%d", (int)number);
    if (number && lstat(process, &status) < 0 && errno == ENOENT &&
        name_socket(path, directory, number) < ADDRESS_MAX)
        ask(path, true, &peer);
}

void Address_sweep(const char *path)
{
    char directory[ADDRESS_MAX];

    snprintf(directory, sizeof(directory), "%s", path);
    *strrchr(directory, '/') = '\0';
    read_directory(directory, sweep_entry, NULL);
}
