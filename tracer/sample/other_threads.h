// SPDX-License-Identifier: MIT
// Finds the threads of the process that run no Python code, for example those
// of OpenBLAS and tokio. Ocular's own threads are left out. Only the sampler's
// thread calls OtherThreads_find.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Largest number of threads without Python code that are sampled.
#define OTHER_THREADS 128

struct OtherThreads {
    struct {
        pid_t tid;
        char name[64]; // The kernel's name of the thread.
    } threads[OTHER_THREADS];
    size_t count;
    // Returns true if `list`, the list of Python threads, contains the thread.
    // The caller sets `is_listed` and `list`.
    bool (*is_listed)(const void *list, pid_t tid);
    const void *list;
};

// Finds the threads in /proc/self/task that are not in `list`.
void OtherThreads_find(struct OtherThreads *others);
