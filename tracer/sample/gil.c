// SPDX-License-Identifier: MIT
#include "tracer/sample/gil.h"
#include "ipc/base/opened.h"
#include "tracer/sample/wait_call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Reads a file in /proc/self/task/TID by a single call of pread. If the program
// has closed Ocular's descriptor and used its number again, pread does not move
// the position in the program's file.
static long read_file(pid_t tid, const char *name, char *text, size_t size)
{
    char path[48];
    struct Opened opened;
    long got;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
    *text = '\0';
    fd = Opened_open(path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    Opened_note(&opened, fd);
    got = pread(fd, text, size - 1, 0);
    got = got < 0 ? -errno : got;
    Opened_close(&opened, fd);
    text[got > 0 ? got : 0] = '\0';
    return got;
}

// In /proc/self/task/TID/schedstat, the second number is the ns for which the
// thread was ready to run but had no CPU. The first number is the ns for which
// the thread ran. The number of ns for which the thread ran is 0 if the kernel
// does not count.
static void read_ready(struct GilQuestion *question)
{
    char text[80], *end = text;
    long got = read_file(question->tid, "schedstat", text, sizeof text);

    question->ready_unknown = strtoull(text, &end, 10) == 0;
    question->ready_ns = got > 0 ? strtoull(end, NULL, 10) : 0;
}

// Returns true if the error means that the thread has ended, or that the
// process has no free descriptor.
static bool is_passing(long error)
{
    return error == -ENOENT || error == -ESRCH || error == -EMFILE ||
           error == -ENFILE || error == -EBADF;
}

enum GilWait Gil_wait(const struct Gil *gil, struct GilQuestion *question)
{
    struct WaitCall call = {question->tid, question->own_files, 0, 0, 0};
    char text[160], *end;
    long got = read_file(call.tid, "syscall", text, sizeof text);
    bool waits;

    question->ready_ns = 0;
    if (got > 0)
        read_ready(question);
    if (is_passing(got))
        return GIL_UNANSWERED;
    if (got <= 0)
        return GIL_UNREADABLE;
    if (strncmp(text, "running", 7) == 0)
        return GIL_READY;
    call.number = strtol(text, &end, 10);
    if (end == text)
        return GIL_UNREADABLE;
    call.first = strtoull(end, &end, 16);
    call.second = strtoull(end, NULL, 16);
    // After a signal, the kernel continues an interrupted futex call as
    // SYS_restart_syscall with the same arguments.
    waits = (call.number == SYS_futex || call.number == SYS_restart_syscall) &&
            call.first >= gil->from && call.first < gil->to;
    question->kind = waits ? WAITS_GIL : WaitCall_kind(&call, &question->polls);
    return waits ? GIL_WAITS : GIL_ELSEWHERE;
}
