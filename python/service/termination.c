// SPDX-License-Identifier: MIT
// See termination.h. The handler runs on any of the program's threads, or in a
// forked child; it only posts.
#include "python/service/termination.h"
#include "python/hooks/state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Global, since a handler has nothing else.
static struct {
    pid_t owner; // 0: nobody waits for the signal
    double seconds;
    bool quiet;
    _Atomic bool asked;
} termination;

// It often comes twice, to a process and by the one that it waits for: the
// second one changes nothing.
static void on_signal(int number)
{
    int error = errno;

    if (termination.owner == getpid()) {
        atomic_store_explicit(&termination.asked, true, memory_order_relaxed);
        sem_post(&ocular_state.engine.due);
    } else { // a forked child dies at once, when this returns
        signal(number, SIG_DFL);
        kill(getpid(), number);
    }
    errno = error;
}

static bool has_handler(void (*handler)(int))
{
    struct sigaction action;

    return sigaction(SIGTERM, NULL, &action) == 0 &&
           !(action.sa_flags & SA_SIGINFO) && action.sa_handler == handler;
}

void Termination_start(double seconds, bool quiet)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = SA_RESTART | SA_ONSTACK};

    if (!has_handler(SIG_DFL))
        return;
    atomic_store_explicit(&termination.asked, false, memory_order_relaxed);
    termination.owner = getpid();
    termination.seconds = seconds;
    termination.quiet = quiet;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
}

static bool is_asked(void)
{
    return atomic_load_explicit(&termination.asked, memory_order_relaxed) &&
           termination.owner == getpid();
}

static void die(void)
{
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
    for (;;) // our threads block it: another one takes it
        pause();
}

static void say(const char *path, int error,
                const struct PerfettoResult *result,
                const struct ExportLimit *limit)
{
    if (error)
        dprintf(2, "ocular: SIGTERM: no timeline at %s: %s\n", path,
                strerror(-error));
    else if (limit->part < 1)
        dprintf(2,
                "ocular: SIGTERM: timeline: %s, %.1f MB, the newest %.0f%% "
                "of it, which is what there is time for\n",
                path, (double)result->bytes / 1e6, 100 * limit->part);
    else
        dprintf(2, "ocular: SIGTERM: timeline: %s, %.1f MB\n", path,
                (double)result->bytes / 1e6);
}

void Termination_serve(struct Session *session)
{
    struct ExportLimit limit = {.seconds = termination.seconds};
    struct PerfettoResult result = {0};
    char path[PATH_MAX];
    int error;

    if (!is_asked())
        return;
    Export_close(&session->export); // a viewer's goes on no further
    Export_choose_name(session->config.output, path);
    error = Export_write(&session->export, path, false, NULL, &limit, &result);
    if (!termination.quiet)
        say(path, error, &result, &limit);
    die();
}

void Termination_stop(void)
{
    if (has_handler(on_signal))
        signal(SIGTERM, SIG_DFL);
    if (is_asked())
        die();
    termination.owner = 0;
}
