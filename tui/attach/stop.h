// SPDX-License-Identifier: MIT
// Stops all threads of another process while ocular-top reads and writes the
// state of that process. If the calling process is killed, the kernel lets the
// threads go on. request.c calls these functions in a child process.
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct StoppedThread {
    pid_t id;
    // Signal that was about to be delivered to the thread; 0 if there was none.
    int signal;
};

struct Stop {
    struct StoppedThread *threads; // owned
    size_t count;
};

// Returns 0, or a negative errno with the reason in `why`: -EPERM without the
// right to trace; -EAGAIN if another debugger traces the process; -EBUSY if a
// thread does not stop. A thread that stops too late goes on when the calling
// process ends.
int Stop_all(struct Stop *stop, pid_t pid, char *why, size_t why_size);
// Lets one stopped thread run for `ns` nanoseconds, and then stops it again.
// Returns 0, or -errno, for example if the thread has ended.
int Stop_let_run(struct Stop *stop, pid_t id, long ns);
void Stop_release(struct Stop *stop); // Lets all stopped threads continue.
