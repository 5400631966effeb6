// SPDX-License-Identifier: MIT
#include "tui/app/startup.h"

#include "ipc/base/now.h"
#include "ipc/process.h"
#include "tui/model/fleet.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

// A program that will serve viewers starts Python, imports its modules and
// calibrates its clock in less than YOUNG_S seconds.
#define YOUNG_S 10
#define PAUSE_NS 50000000L

bool Startup_is_likely(double age_s, const char *command)
{
    bool served = strstr(command, " --serve") || strstr(command, " --idle");

    return (!isnan(age_s) && age_s < YOUNG_S) ||
           (served && strstr(command, " -m ocular "));
}

static int find(struct Served *found, const struct StartupRequest *request,
                char *why, size_t why_size)
{
    if (!request->workers || !Fleet_is_wanted(request->pid))
        return Address_find(found, request->pid, why, why_size);
    memset(found, 0, sizeof *found);
    found->pid = request->pid;
    return 0;
}

int Startup_find(struct Served *found, const struct StartupRequest *request,
                 char *why, size_t why_size)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t until =
        Now_ns(CLOCK_MONOTONIC) + (uint64_t)(request->patience_s * 1e9);
    int error = find(found, request, why, why_size);

    if (error != -ENOENT ||
        !Startup_is_likely(Process_age_s(request->pid), found->command))
        return error;
    fprintf(request->say,
            "ocular-top: process %d does not serve yet: waiting %.0f s for it "
            "(Ctrl-C ends)\n",
            (int)request->pid, request->patience_s);
    fflush(request->say);
    while (error == -ENOENT && Now_ns(CLOCK_MONOTONIC) < until) {
        nanosleep(&pause, NULL);
        error = find(found, request, why, why_size);
    }
    return error;
}
