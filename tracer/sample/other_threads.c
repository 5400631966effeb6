// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // getdents64
#include "tracer/sample/other_threads.h"

#include "ipc/base/opened.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The names of Ocular's own threads begin with this text.
#define OURS "ocular-"

// Reads the name of a thread. Returns false if the thread has ended or belongs
// to Ocular.
static bool read_name(pid_t tid, char *name, size_t room)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)tid);
    if (Opened_read(path, name, room) < 0)
        return false;
    name[strcspn(name, "\n")] = '\0';
    return strncmp(name, OURS, sizeof OURS - 1) != 0;
}

static void add(struct OtherThreads *others, pid_t tid)
{
    size_t at = others->count;

    if (tid <= 0 || at == OTHER_THREADS || others->is_listed(others->list, tid))
        return;
    others->threads[at].tid = tid;
    others->count += read_name(tid, others->threads[at].name,
                               sizeof others->threads[at].name);
}

// Reads the directory by getdents64() instead of readdir(), which allocates by
// malloc.
void OtherThreads_find(struct OtherThreads *others)
{
    _Alignas(struct dirent64) char entries[4096];
    int fd = Opened_above(
        open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ssize_t got;

    others->count = 0;
    while (fd >= 0 && (got = getdents64(fd, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(entries + at);

            add(others, (pid_t)atoi(entry->d_name));
            at += entry->d_reclen;
        }
    }
    if (fd >= 0)
        close(fd);
}
