// SPDX-License-Identifier: MIT
#include "tui/attach/blocked.h"

#include "ipc/base/opened.h"

#include <stdio.h>
#include <sys/syscall.h>

struct Call {
    long number;
    const char *name;
};

static const struct Call calls[] = {
    {SYS_read, "read"},
    {SYS_readv, "readv"},
    {SYS_write, "write"},
    {SYS_writev, "writev"},
    {SYS_futex, "futex: it waits for a lock, or for another thread"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_accept4, "accept4"},
    {SYS_connect, "connect"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep: it sleeps"},
    {SYS_wait4, "wait4: it waits for a child"},
    {SYS_waitid, "waitid: it waits for a child"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_rt_sigsuspend, "rt_sigsuspend: it waits for a signal"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait: it waits for a signal"},
    {SYS_ioctl, "ioctl"},
#ifdef __x86_64__ // Newer architectures do not have the next system calls.
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_pause, "pause: it waits for a signal"},
    {SYS_accept, "accept"},
#endif
};

void Blocked_describe(pid_t pid, char *out, size_t size)
{
    char path[64], text[256];
    long number;
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    if (Opened_read(path, text, sizeof text) <= 0) {
        snprintf(out, size, "is in C code");
        return;
    }
    if (sscanf(text, "%ld", &number) != 1 || number < 0) {
        snprintf(out, size, "runs C code that does not return to Python");
        return;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].number == number) {
            snprintf(out, size, "is in the system call %s", calls[i].name);
            return;
        }
    }
    snprintf(out, size, "is in the system call number %ld", number);
}
