// SPDX-License-Identifier: MIT
#include "tui/app/startup.h"

#include "ipc/base/now.h"
#include "ipc/process.h"
#include "tui/model/fleet.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

// The start of Python, the imports and the calibration of a program that will
// serve viewers take at most YOUNG_S seconds.
#define YOUNG_S 10
#define PAUSE_NS 50000000L

bool Startup_is_likely(double age_s, const char *command)
{
    bool served = strstr(command, " --serve") || strstr(command, " --idle");

    return (!isnan(age_s) && age_s < YOUNG_S) ||
           (served && strstr(command, " -m ocular "));
}

static int find(struct Served *found, const struct StartupWish *wish, char *why,
                size_t why_size)
{
    if (!wish->workers || !Fleet_is_wanted(wish->pid))
        return Address_find(found, wish->pid, why, why_size);
    memset(found, 0, sizeof *found);
    found->pid = wish->pid;
    return 0;
}

int Startup_find(struct Served *found, const struct StartupWish *wish,
                 char *why, size_t why_size)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t until =
        Now_ns(CLOCK_MONOTONIC) + (uint64_t)(wish->patience_s * 1e9);
    int error = find(found, wish, why, why_size);

    if (error != -ENOENT ||
        !Startup_is_likely(Process_age_s(wish->pid), found->command))
        return error;
    fprintf(wish->say,
            "ocular-top: process %d does not serve yet: waiting %.0f s for it "
            "(Ctrl-C ends)\n",
            (int)wish->pid, wish->patience_s);
    fflush(wish->say);
    while (error == -ENOENT && Now_ns(CLOCK_MONOTONIC) < until) {
        nanosleep(&pause, NULL);
        error = find(found, wish, why, why_size);
    }
    return error;
}
