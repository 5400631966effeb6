// SPDX-License-Identifier: MIT
// See startup.h.
#include "tui/app/startup.h"

#include "ipc/base/now.h"
#include "ipc/process.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

// The start of Python, the imports and the calibration of a program that will
// serve take at most YOUNG_S seconds.
#define YOUNG_S 10
#define PAUSE_NS 50000000L

bool Startup_is_likely(double age_s, const char *command)
{
    bool served = strstr(command, " --serve") || strstr(command, " --idle");

    return (!isnan(age_s) && age_s < YOUNG_S) ||
           (served && strstr(command, " -m ocular "));
}

int Startup_find(struct Served *found, pid_t pid, double patience_s, FILE *say,
                 char *why, size_t why_size)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t until = Now_ns(CLOCK_MONOTONIC) + (uint64_t)(patience_s * 1e9);
    int error = Address_find(found, pid, why, why_size);

    if (error != -ENOENT ||
        !Startup_is_likely(Process_age_s(pid), found->command))
        return error;
    fprintf(say,
            "ocular-top: process %d does not serve yet: waiting %.0f s for it "
            "(Ctrl-C ends)\n",
            (int)pid, patience_s);
    fflush(say);
    while (error == -ENOENT && Now_ns(CLOCK_MONOTONIC) < until) {
        nanosleep(&pause, NULL);
        error = Address_find(found, pid, why, why_size);
    }
    return error;
}
