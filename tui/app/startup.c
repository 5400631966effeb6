// SPDX-License-Identifier: MIT
#include "tui/app/startup.h"

#include "ipc/base/now.h"
#include "ipc/process.h"
#include "tui/model/fleet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// A program that will serve viewers starts Python, imports its modules and
// calibrates its clock in less than YOUNG_S seconds.
#define YOUNG_S 10
#define PATIENCE_S 5
#define PAUSE_NS 50000000L

// Returns true if a process that does not serve viewers yet will probably do so
// soon, because it is young or was started with --serve.
static bool is_likely(pid_t pid, const char *command)
{
    double age_s = Process_age_s(pid);
    bool served = strstr(command, " --serve") || strstr(command, " --idle");
    return (!isnan(age_s) && age_s < YOUNG_S) ||
           (served && strstr(command, " -m ocular "));
}

static int find(struct Served *found, pid_t pid, bool workers, char *why,
                size_t why_size)
{
    if (!workers || !Fleet_is_wanted(pid))
        return Address_find(found, pid, why, why_size);
    memset(found, 0, sizeof *found);
    found->pid = pid;
    return 0;
}

int Startup_find(struct Served *found, pid_t pid, bool workers, char *why,
                 size_t why_size)
{
    const struct timespec pause = {0, PAUSE_NS};
    double until_s = Now_s(CLOCK_MONOTONIC) + PATIENCE_S;
    int error = find(found, pid, workers, why, why_size);

    if (error != -ENOENT || !is_likely(pid, found->command))
        return error;
    fprintf(stderr,
            "ocular-top: process %d does not serve yet: waiting %d s for it "
            "(Ctrl-C ends)\n",
            (int)pid, PATIENCE_S);
    while (error == -ENOENT && Now_s(CLOCK_MONOTONIC) < until_s) {
        nanosleep(&pause, NULL);
        error = find(found, pid, workers, why, why_size);
    }
    return error;
}
