// SPDX-License-Identifier: MIT
// main_signals.c makes system calls without the C library, because its sigset_t
// is larger than the kernel's sigset_t in a handler's context.
#define _GNU_SOURCE 1 // for syscall
#include "tracer/sample/main_signals.h"

#include "ipc/base/opened.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// A set of the signals 1 to 64 as the kernel stores it, with one bit for each
// signal.
typedef uint64_t signals_t;

static signals_t one(int number)
{
    return UINT64_C(1) << (number - 1);
}

// Returns the set of signals for which programs wait in the main thread. The
// set does not contain the signals of faults, of job control and of profilers'
// timers.
static signals_t passed(void)
{
    return one(SIGHUP) | one(SIGINT) | one(SIGQUIT) | one(SIGUSR1) |
           one(SIGUSR2) | one(SIGALRM) | one(SIGTERM) | one(SIGCHLD) |
           one(SIGWINCH);
}

static char *put_number(char *end, unsigned number)
{
    do
        *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}

// Number of the field in /proc/PID/stat that has the blocked signals (proc(5)).
#define BLOCKED_FIELD 32

// Returns the signals from 1 to 31 that the main thread has blocked, or all
// signals if they cannot be read. The compiler must not inline blocked_in,
// whose buffers need room on the signal stack, which may be small.
__attribute__((noinline)) static signals_t blocked_in(pid_t pid)
{
    static const char before[] = "/proc/self/task/", after[] = "/stat";
    char path[48], digits[16], text[512], *end = digits + sizeof digits;
    char *number = put_number(end, (unsigned)pid), *at = path;

    at = mempcpy(at, before, sizeof before - 1);
    at = mempcpy(at, number, (size_t)(end - number));
    memcpy(at, after, sizeof after);
    if (Opened_read(path, text, sizeof text) < 0)
        return ~UINT64_C(0);
    // The thread's name, which may contain spaces, ends at the last ')'.
    at = strrchr(text, ')');
    for (int field = 2; at && field < BLOCKED_FIELD; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : ~UINT64_C(0);
}

static void pass(int number, pid_t pid)
{
    const struct timespec at_once = {0, 0};
    signals_t set = one(number);
    pid_t target = pid;
    siginfo_t info;

    // Another thread may have taken the signal since the call of rt_sigpending.
    if (syscall(SYS_rt_sigtimedwait, &set, &info, &at_once, sizeof set) !=
        number)
        return;
    if (info.si_code == SI_TKILL)
        // The signal was sent to the calling thread alone.
        target = (pid_t)syscall(SYS_gettid);
    else if (info.si_code >= 0)
        // The kernel refuses an si_code of 0 or more for another thread.
        info.si_code = SI_QUEUE;
    if (syscall(SYS_rt_tgsigqueueinfo, pid, target, number, &info))
        syscall(SYS_tgkill, pid, target, number);
}

void MainSignals_pass(const void *context, pid_t pid)
{
    const ucontext_t *thread = context;
    signals_t blocked, pending;

    memcpy(&blocked, &thread->uc_sigmask, sizeof blocked);
    if (syscall(SYS_rt_sigpending, &pending, sizeof pending))
        return; // A filter of system calls (seccomp) forbids rt_sigpending.
    pending &= passed() & ~blocked;
    if (pending)
        pending &= ~blocked_in(pid);
    for (int number = 1; pending; number++) {
        if (pending & one(number))
            pass(number, pid);
        pending &= ~one(number);
    }
}
