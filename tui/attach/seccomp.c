// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // CLONE_...
#include "tui/attach/seccomp.h"

#include "ipc/process.h"
#include "tui/attach/bpf.h"

#include <dirent.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILTERS_MOST 64 // Largest number of filters of one thread.
#define FIRST_USERS "user:[4026531837]"

#ifdef __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif

// --- Checks that do not stop the process

static uint64_t number_of(const char *status, const char *row, int base)
{
    return strtoull(Process_row(status, row), NULL, base);
}

// Returns the number of filters of a thread, or 1 if the kernel does not count
// filters (before Linux 5.9).
static uint64_t filters_of(const char *status)
{
    uint64_t count = number_of(status, "\nSeccomp_filters:", 10);
    if (number_of(status, "\nSeccomp:", 10) != SECCOMP_MODE_FILTER)
        return 0;
    return count ? count : 1;
}

// Returns the highest number of filters of any thread of the process.
static uint64_t most_filters(pid_t pid)
{
    char name[64], status[PROCESS_STATUS];
    const struct dirent *entry;
    uint64_t most = 0;
    snprintf(name, sizeof name, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(name);
    while (tasks && (entry = readdir(tasks))) {
        Process_status((pid_t)atoi(entry->d_name), status);
        uint64_t count = filters_of(status);
        most = count > most ? count : most;
    }
    if (tasks)
        closedir(tasks);
    return most;
}

// Returns true if this program may read seccomp filters. Reading filters needs
// CAP_SYS_ADMIN in the initial user namespace, and the program itself must have
// no filter.
static bool may_read(const char *ours)
{
    char users[64];
    ssize_t size = readlink("/proc/self/ns/user", users, sizeof users - 1);
    users[size > 0 ? size : 0] = '\0';
    return strcmp(users, FIRST_USERS) == 0 && !filters_of(ours) &&
           number_of(ours, "\nCapEff:", 16) >> CAP_SYS_ADMIN & 1;
}

enum FilterSight Seccomp_look(pid_t pid)
{
    char ours[PROCESS_STATUS];
    uint64_t count = most_filters(pid);
    if (!count)
        return FILTER_NONE;
    if (!Process_status(getpid(), ours))
        return FILTER_HIDDEN;
    if (may_read(ours))
        return FILTER_READABLE;
    return count == filters_of(ours) ? FILTER_SHARED : FILTER_HIDDEN;
}

// --- Ocular's system calls in the process

struct Call {
    int number;
    const char *name;
    // Arguments of the call; 0 stands for an argument that varies.
    uint64_t arguments[3];
};

#define CALL(name, ...)                                                        \
    {                                                                          \
        SYS_##name, #name,                                                     \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }
#define THREAD                                                                 \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |        \
     CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |                      \
     CLONE_CHILD_CLEARTID)
#define UNIX 1 // AF_UNIX, whose header only ipc/socket.c may include
#define STREAM (1 | 02000000) // SOCK_STREAM | SOCK_CLOEXEC
#define FD 1000000            // Number of a descriptor that is not open.

// The system calls that Python and Ocular make between the script's first line
// and the end of detaching, also while a viewer is connected. The list of
// system calls was made with strace. The list leaves out system calls that
// every program makes all the time. The list also leaves out capset, because
// Ocular does not call capset if there is a filter.
static const struct Call calls[] = {
#ifdef __x86_64__
    CALL(chmod, 0, 0600),
    CALL(mkdir, 0, 0700),
    CALL(poll),
    CALL(rename),
    CALL(rmdir),
    CALL(unlink),
#endif
    CALL(accept4, FD),
    CALL(bind, FD),
    CALL(capget),
    CALL(clock_gettime),
    CALL(clone, THREAD),
    CALL(clone3, 0, 88),
    CALL(fcntl, FD, 1030), // F_DUPFD_CLOEXEC
    CALL(flock, FD),
    CALL(futex),
    CALL(getdents64, FD),
    CALL(getpid),
    CALL(getrusage, 0),
    CALL(getsockopt, FD),
    CALL(gettid),
    CALL(inotify_add_watch, FD),
    CALL(inotify_init1),
    CALL(listen, FD),
    CALL(lseek, FD),
    CALL(madvise),
    CALL(membarrier),
    CALL(mmap),
    CALL(mmap, 0, 4096, 1 | 4), // PROT_READ | PROT_EXEC
    CALL(mprotect),
    CALL(munmap),
    CALL(newfstatat, FD),
    CALL(openat, (uint32_t)-100), // AT_FDCWD
    CALL(prctl, PR_SET_NAME),
    CALL(process_vm_readv),
    CALL(recvfrom, FD),
    CALL(recvmsg, FD),
    CALL(rt_sigaction, 34),
    CALL(rt_sigprocmask),
    CALL(sendto, FD),
    CALL(set_robust_list),
    CALL(socket, UNIX, STREAM),
    CALL(socketpair, UNIX, STREAM),
    CALL(tgkill),
    CALL(timer_create),
    CALL(timer_delete),
    CALL(timer_gettime),
    CALL(timer_settime),
};

static void explain(const char *name, pid_t pid, char *why, size_t why_size)
{
    snprintf(why, why_size,
             "process %d has a seccomp filter that would kill it for %s(), "
             "which Ocular calls there. Nothing was changed; start it with a "
             "filter that lets this pass or refuses it with an error",
             (int)pid, name);
}

// --- Filters that this program can read

struct Filter {
    struct sock_filter code[BPF_CODE_MOST];
    size_t count;
};

static const struct Call *find_killing(const struct Filter *filter)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct seccomp_data data = {.nr = calls[i].number, .arch = MACHINE};
        for (int j = 0; j < 3; j++)
            data.args[j] = calls[i].arguments[j];
        if (Bpf_kills(Bpf_run(filter->code, filter->count, &data)))
            return &calls[i];
    }
    return NULL;
}

// Reads the thread's filter with this index. Returns 1, or 0 if the thread has
// no filter with this index, or -errno.
static int read_filter(struct Filter *filter, pid_t thread, int index)
{
    long count = ptrace(PTRACE_SECCOMP_GET_FILTER, thread,
                        (void *)(intptr_t)index, NULL);
    if (count < 0) // EINVAL means that the thread has no filters.
        return errno == ENOENT || errno == EINVAL ? 0 : -errno;
    if (count > BPF_CODE_MOST)
        return -E2BIG;
    filter->count = (size_t)count;
    count = ptrace(PTRACE_SECCOMP_GET_FILTER, thread, (void *)(intptr_t)index,
                   filter->code);
    return count < 0 ? -errno : 1;
}

// Returns 0, -EACCES with the reason in `why`, or another -errno.
static int check_thread(struct Filter *filter, pid_t thread, pid_t pid,
                        char *why, size_t why_size)
{
    int found = 1;
    for (int i = 0; i < FILTERS_MOST && found > 0; i++) {
        found = read_filter(filter, thread, i);
        const struct Call *call = found > 0 ? find_killing(filter) : NULL;
        if (!call)
            continue;
        explain(call->name, pid, why, why_size);
        return -EACCES;
    }
    return found > 0 ? -E2BIG : found;
}

int Seccomp_check(const struct Stop *stop, pid_t pid, char *why,
                  size_t why_size)
{
    struct Filter *filter = malloc(sizeof *filter);
    int error = filter ? 0 : -ENOMEM;
    *why = '\0';
    for (size_t i = 0; !error && i < stop->count; i++)
        error = check_thread(filter, stop->threads[i].id, pid, why, why_size);
    free(filter);
    if (error && !*why)
        snprintf(why, why_size,
                 "process %d has a seccomp filter, which cannot be read: %s. "
                 "It may kill the process for a system call of Ocular's",
                 (int)pid, strerror(-error));
    return error ? -EACCES : 0;
}

// --- Filters of this program itself

// Makes all system calls of the table `calls` in a child process. The arguments
// in the table make each call fail, or at least change nothing outside the
// child. clone() must not succeed, because its thread would run on this stack.
// The only flag of clone() is CLONE_THREAD, which the kernel refuses without
// CLONE_SIGHAND.
static void try_all(int out)
{
    for (unsigned char i = 0; i < sizeof calls / sizeof *calls; i++) {
        const uint64_t *with = calls[i].arguments;
        bool clones = calls[i].number == SYS_clone;
        if (write(out, &i, 1) != 1)
            _exit(1);
        syscall(calls[i].number, clones ? CLONE_THREAD : with[0], with[1],
                with[2], 0, 0, 0);
    }
    _exit(0);
}

int Seccomp_try(pid_t pid, char *why, size_t why_size)
{
    unsigned char last = 0;
    int ends[2], status = 0;
    pid_t child = pipe(ends) < 0 ? -1 : fork();
    if (child == 0)
        try_all(ends[1]);
    if (child < 0) {
        snprintf(why, why_size, "no process can be made to try system calls");
        return -ENOMEM;
    }
    close(ends[1]);
    while (read(ends[0], &last, 1) == 1)
        ;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status))
        return 0;
    explain(calls[last].name, pid, why, why_size);
    return -EACCES;
}
