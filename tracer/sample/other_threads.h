// SPDX-License-Identifier: MIT
// Finds the threads of the process that no list of Python threads has, for
// example those of OpenBLAS and tokio. Ocular's own threads are left out. Only
// the sampler's thread calls the function.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Largest number of such threads that are sampled.
#define OTHER_THREADS 128

struct OtherThreads {
    struct {
        pid_t tid;
        char name[64]; // The kernel's name of the thread.
    } threads[OTHER_THREADS];
    size_t count;
    // Returns true if a list has the thread. The caller sets these two members.
    bool (*is_listed)(const void *list, pid_t tid);
    const void *list;
};

// Finds the threads below /proc/self/task that are not in the list.
void OtherThreads_find(struct OtherThreads *others);
