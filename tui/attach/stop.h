// SPDX-License-Identifier: MIT
// All threads of another process, stopped for the moment in which its state is
// read and written. If we are killed, the kernel lets the threads go on. Called
// by request.c, in a process of its own.
#ifndef OCULAR_TUI_ATTACH_STOP_H
#define OCULAR_TUI_ATTACH_STOP_H

#include <stddef.h>
#include <sys/types.h>

struct StoppedThread {
    pid_t id;
    int signal; // that was about to be delivered; 0: none
};

struct Stop {
    struct StoppedThread *threads; // owned
    size_t count;
};

// 0, or -errno with `why`: -EPERM: we may not; -EAGAIN: another debugger is
// there, perhaps for a moment;
// -EBUSY: a thread does not stop. That one is let go by the caller's end.
int Stop_all(struct Stop *stop, pid_t pid, char *why, size_t why_size);
// Lets one of them go on for so long. 0, or -errno: it has ended, say.
int Stop_let_run(struct Stop *stop, pid_t id, long ns);
void Stop_release(struct Stop *stop); // lets them go on

#endif
