// SPDX-License-Identifier: MIT
// Reads from /proc the user, the environment, the CPU time and the ids of
// another process, also its ids inside a container. One use of these facts is
// to find the socket of the process. Any thread may call these functions,
// because they keep no state. The texts in /proc are not trusted, because other
// users may have written them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Process {
    pid_t pid;
    uid_t uid;       // Effective user id of the process.
    pid_t inner_pid; // Process id in the process's own pid namespace.
    uid_t inner_uid; // User id in the process's own user namespace.
};

#define PROCESS_GROUPS 64

// The user and the groups of a process for file access (fsuid, fsgid), as ids
// of the caller's user namespace.
struct ProcessUser {
    uid_t uid;
    gid_t gid;
    gid_t groups[PROCESS_GROUPS];
    // Number of entries in `groups`, at most PROCESS_GROUPS.
    unsigned group_count;
};

// Reads the user of a process. Returns 0, -ESRCH if there is no such process,
// or -EACCES if /proc hides it.
int Process_user(struct ProcessUser *user, pid_t pid);
// Reads the ids of a process. Returns 0, -ESRCH if there is no such process or
// it is a zombie, or -EACCES if /proc hides the process.
int Process_look(struct Process *process, pid_t pid);
// Writes the process's command line to `out`, with spaces between the
// arguments. If the command line is empty, writes the name of the process in
// brackets. Replaces control characters and invisible characters by '?'. The
// text in `out` always ends with a NUL.
void Process_command(pid_t pid, char *out, size_t size);
#define PROCESS_STATUS 8192
// Reads /proc/TASK/status of a process or of a thread. If the file cannot be
// read, makes `status` empty and returns false.
bool Process_status(pid_t task, char status[PROCESS_STATUS]);
// Returns the text after `name` in the text of Process_status(), or "". `name`
// has the form "\nName:".
const char *Process_row(const char *status, const char *name);
// Returns the parent of a process, or 0 if /proc does not give it.
pid_t Process_parent(pid_t pid);
// Returns the time at which a process was forked, in clock ticks since boot, or
// 0 if /proc does not give it. The process id and the time of the fork together
// identify a process.
uint64_t Process_start(pid_t pid);
// Returns the CPU time of a process in seconds, or 0 if /proc does not give it.
double Process_cpu_s(pid_t pid);
// Returns the address at which a process's first stack begins, or 0 if the
// kernel hides it. A forked process has the address of its parent until it
// calls exec.
uint64_t Process_stack(pid_t pid);
// Returns the seconds since a process was forked, or NAN if /proc does not give
// them.
double Process_age_s(pid_t pid);
// Copies a variable of the environment with which a process was started.
// Returns 1, 0 if there is no such variable or it is too long for `out`, or
// -errno.
int Process_variable(pid_t pid, const char *name, char *out, size_t size);
// Returns true if `uid` is the id that stands for all users without an id in
// this process's user namespace.
bool Process_is_nobody(uid_t uid);
