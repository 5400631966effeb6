// SPDX-License-Identifier: MIT
// Another process as /proc describes it, for finding its socket: its user, its
// environment, and its ids inside its container. Any thread, no state.
// Everything read here was written by others, and is not to be trusted.
#ifndef OCULAR_IPC_PROCESS_H
#define OCULAR_IPC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Process {
    pid_t pid;
    uid_t uid;       // effective
    pid_t inner_pid; // in its own pid namespace
    uid_t inner_uid; // in its own user namespace
};

#define PROCESS_GROUPS 64

// The owner of the process's files, in the numbers of our user namespace.
struct ProcessUser {
    uid_t uid; // for files, as the next
    gid_t gid;
    gid_t groups[PROCESS_GROUPS];
    unsigned group_count; // the first of them; more are left out
};

// 0 or -ESRCH, -EACCES as Process_look.
int Process_user(struct ProcessUser *user, pid_t pid);
// 0, -ESRCH: there is none (or it has ended and waits to be reaped), or
// -EACCES: there is one, but /proc hides it from us.
int Process_look(struct Process *process, pid_t pid);
// Its command line, spaces between the arguments; its name in brackets when
// there is none; whatever could upset a terminal is a '?'. Always terminated.
void Process_command(pid_t pid, char *out, size_t size);
// The process that started it, or that took it over; 0 if /proc does not say.
pid_t Process_parent(pid_t pid);
// When it was forked, in clock ticks since the machine's start; 0 if /proc does
// not say. With the id it names a process for good.
uint64_t Process_start(pid_t pid);
// Seconds since it was forked; NAN if /proc does not say.
double Process_age_s(pid_t pid);
// A variable of the environment it was started with. 1 and out, 0 no such
// variable (or too long for out), or -errno.
int Process_variable(pid_t pid, const char *name, char *out, size_t size);
// Is this the number, in our user namespace, of all the users who have none
// there?
bool Process_is_nobody(uid_t uid);

#endif
