// SPDX-License-Identifier: MIT
// The kernel lists the children that a thread has made in
// /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN).
#include "tui/model/children.h"

#include "ipc/address.h"
#include "ipc/base/opened.h"
#include "ipc/process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_S 5.0
#define MOST 64 // Largest number of children that one check counts.
// A child younger than YOUNG_S seconds may not serve yet.
#define YOUNG_S 2
// One check reads the lists of at most THREADS threads.
#define THREADS 1024
#define LIST_MAX 4096 // Size of a thread's list in bytes.
#define COMMAND_MAX 512

static bool is_python(pid_t pid)
{
    char path[64], target[512];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = 0;
    const char *name = strrchr(target, '/');
    return name && strncmp(name, "/python", 7) == 0;
}

static bool serves(pid_t pid)
{
    struct Served served = {.pid = pid};
    char why[512];
    return Address_find(&served, pid, why, sizeof why) == 0;
}

// Appends the process ids in one thread's list to `children`.
static size_t add(char *list, pid_t *children, size_t count, size_t most)
{
    for (char *at = list, *end; count < most; at = end) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        if (end == at)
            break;
        children[count++] = pid;
    }
    return count;
}

size_t Children_list(pid_t pid, pid_t *children, size_t most)
{
    char path[128], list[LIST_MAX];
    size_t count = 0, threads = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    const struct dirent *task;
    while (tasks && threads++ < THREADS && (task = readdir(tasks))) {
        if (!isdigit((unsigned char)*task->d_name))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid,
                 task->d_name);
        if (Opened_read(path, list, sizeof list) > 0)
            count = add(list, children, count, most);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

bool Children_is_worker(pid_t child, pid_t parent)
{
    char its[COMMAND_MAX], parents[COMMAND_MAX];
    uint64_t stack = Process_stack(child);
    if (stack && stack == Process_stack(parent))
        return true;
    Process_command(child, its, sizeof its);
    Process_command(parent, parents, sizeof parents);
    return strcmp(its, parents) == 0 ||
           strstr(its, " --multiprocessing-fork") != NULL ||
           strstr(its, "multiprocessing.forkserver import main") != NULL;
}

static unsigned count_untraced(pid_t pid)
{
    pid_t children[MOST];
    size_t all = Children_list(pid, children, MOST);
    unsigned count = 0;
    for (size_t i = 0; i < all; i++)
        count += is_python(children[i]) &&
                 Process_age_s(children[i]) >= YOUNG_S && !serves(children[i]);
    return count;
}

void Children_update(struct Children *children, pid_t pid, double now)
{
    if (pid <= 0 ||
        (children->checked_at > 0 && now - children->checked_at < PERIOD_S))
        return;
    children->checked_at = now;
    children->untraced = count_untraced(pid);
}
