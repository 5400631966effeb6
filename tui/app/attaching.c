// SPDX-License-Identifier: MIT
#include "tui/app/attaching.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int Attaching_command(const struct Options *options, char *why, size_t why_size)
{
    struct AttachRequest request = {options->pid, options->package, false};
    int pid = (int)options->pid, error;
    if (options->detach) {
        error = Attach_end(&request, why, why_size);
        if (!error)
            snprintf(why, why_size, "process %d serves no more", pid);
        return error;
    }
    error = Attach_begin(&request, why, why_size);
    if (!error)
        snprintf(why, why_size,
                 "process %d serves now: ocular-top --pid %d shows it, and "
                 "ocular-top --detach --pid %d ends it",
                 pid, pid, pid);
    return error == -EALREADY ? 0 : error;
}

bool Attaching_is_wanted(const struct Options *options)
{
    int answer, rest;
    if (options->attach)
        return true;
    if (options->batch || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return false;
    fprintf(stderr,
            "Process %d does not serve. %sAttach to it, until you leave? "
            "[y/N] ",
            (int)options->pid,
            Attach_may_kill(options->pid)
                ? "It has a seccomp filter, which only root may read, and "
                  "which may kill it for a system call of Ocular's. "
                : "");
    answer = rest = getchar();
    while (rest != '\n' && rest != EOF)
        rest = getchar();
    return answer == 'y' || answer == 'Y';
}

int Attaching_begin(struct Attaching *attaching,
                    const struct AttachRequest *request, struct Served *served,
                    char *why, size_t why_size)
{
    pid_t *pids = realloc(attaching->pids,
                          (attaching->count + 1) * sizeof *attaching->pids);
    if (!pids) {
        snprintf(why, why_size, "no memory is left");
        return -ENOMEM;
    }
    attaching->pids = pids;
    int error = Attach_begin(request, why, why_size);
    if (!error)
        pids[attaching->count++] = request->pid;
    if (error && error != -EALREADY)
        return error;
    return Address_find(served, request->pid, why, why_size);
}

int Attaching_end(struct Attaching *attaching, const char *package, char *why,
                  size_t why_size)
{
    struct AttachRequest request = {attaching->pids[--attaching->count],
                                    package, false};
    int error = Attach_end(&request, why, why_size);
    if (!attaching->count) {
        free(attaching->pids);
        attaching->pids = NULL;
    }
    // The process has ended, or another program has already ended Ocular in it.
    return error == -ESRCH || error == -ENOENT ? 0 : error;
}
