// SPDX-License-Identifier: MIT
// See termination.h. The handler runs on any of the program's threads, or in a
// forked child; it only posts.
#include "python/service/termination.h"
#include "ipc/listener.h"
#include "python/hooks/state.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUSY_MS 10 // between looks whether the program's export has ended
#define BUSY_TRIES 500

// Global, since a handler has nothing else.
static struct {
    _Atomic pid_t owner; // 0: nobody waits for the signal
    double seconds;
    bool quiet;
    char hint[64]; // what follows the line about the file
    _Atomic bool asked;
} termination;

// The socket that would be left behind.
static struct {
    _Atomic pid_t owner; // 0: none
    char path[ADDRESS_MAX];
    dev_t device;
    ino_t inode;
} served;

static void remove_socket(void)
{
    struct stat now;

    if (atomic_load(&served.owner) != getpid())
        return;
    Listener_stay_away();
    if (lstat(served.path, &now) == 0 && now.st_dev == served.device &&
        now.st_ino == served.inode)
        unlink(served.path);
}

// The signal often comes twice, to a process and by the one that waits for it:
// the second one changes nothing. If no thread of ours waits for it any more,
// and in a forked child, the signal ends the process when this returns.
static void on_signal(int number)
{
    int error = errno;

    atomic_store(&termination.asked, true);
    if (atomic_load(&termination.owner) == getpid()) {
        sem_post(&ocular_state.engine.due);
    } else {
        remove_socket();
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

// Whether the handler stands, or may.
static bool is_ours(void)
{
    return has_handler(SIG_DFL) || has_handler(on_signal);
}

static void set_handler(void)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = SA_RESTART | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
}

static void reset_handler(void)
{
    if (atomic_load(&termination.owner) != getpid() &&
        atomic_load(&served.owner) != getpid() && has_handler(on_signal))
        signal(SIGTERM, SIG_DFL);
}

// The first process of a container is not ended by the signal: nor is it now.
void Termination_serves(const char *path)
{
    struct stat status;

    atomic_store(&served.owner, 0);
    if (!is_ours() || getpid() == 1 || lstat(path, &status) < 0)
        return;
    snprintf(served.path, sizeof(served.path), "%s", path);
    served.device = status.st_dev;
    served.inode = status.st_ino;
    atomic_store(&served.owner, getpid());
    set_handler();
}

void Termination_serves_no_more(void)
{
    atomic_store(&served.owner, 0);
    reset_handler();
}

void Termination_start(double seconds, bool quiet, const char *page)
{
    if (!is_ours())
        return;
    *termination.hint = '\0';
    if (*page)
        snprintf(termination.hint, sizeof termination.hint,
                 ": ocular convert makes %s of it", page);
    termination.seconds = seconds;
    termination.quiet = quiet;
    atomic_store(&termination.asked, false);
    atomic_store(&termination.owner, getpid());
    set_handler();
}

bool Termination_is_asked(void)
{
    return atomic_load(&termination.asked) &&
           atomic_load(&termination.owner) == getpid();
}

double Termination_seconds(void)
{
    return termination.seconds;
}

// The first process of a container is not ended by the signal: it exits, with
// the status that a shell tells of one that was.
static void die(void)
{
    sigset_t set;

    remove_socket();
    signal(SIGTERM, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    kill(getpid(), SIGTERM);
    _exit(128 + SIGTERM);
}

static void say(const char *why, const char *path, int error,
                const struct PerfettoResult *result,
                const struct ExportLimit *limit)
{
    if (error)
        dprintf(2, "ocular: %s: %s was not written: %s\n", why, path,
                strerror(-error));
    else if (limit->part < 1)
        dprintf(2,
                "ocular: %s: written: %s, %.1f MB, the newest %.0f%% of it, "
                "for which there was time and room\n",
                why, path, (double)result->bytes / 1e6, 100 * limit->part);
    else
        dprintf(2, "ocular: %s: written: %s, %.1f MB%s\n", why, path,
                (double)result->bytes / 1e6, termination.hint);
}

// The next try may succeed: an export of the program's own is ending, which may
// have ended the program; the name is another process's by now; a stop has
// cancelled whatever ran.
static bool is_worth_a_try(int error)
{
    return error == -EBUSY || error == -EEXIST || error == -ECANCELED;
}

static int write_output(struct Session *session, char path[PATH_MAX],
                        struct ExportLimit *limit,
                        struct PerfettoResult *result)
{
    const struct timespec pause = {0, BUSY_MS * 1000000L};
    int error = -EBUSY, i;

    Export_close(&session->export); // a viewer's goes on no further
    for (i = 0; i < BUSY_TRIES && is_worth_a_try(error); i++) {
        if (i)
            nanosleep(&pause, NULL);
        if (error == -EBUSY && i)
            Export_cancel(&session->export);
        OutputName_choose(session->config.output, path);
        error =
            Export_write(&session->export, path, false, NULL, limit, result);
    }
    return error;
}

void Termination_write(struct Session *session, const char *why, double seconds)
{
    struct ExportLimit limit = {.seconds = seconds};
    struct PerfettoResult result = {0};
    char path[PATH_MAX], forgotten[PATH_MAX + 256];
    int error = write_output(session, path, &limit, &result);

    if (!termination.quiet)
        say(why, path, error, &result, &limit);
    if (Session_describe_forgotten(session, forgotten, sizeof forgotten))
        dprintf(2, "ocular: %s\n", forgotten);
}

void Termination_serve(struct Session *session)
{
    if (!Termination_is_asked())
        return;
    Termination_write(session, "SIGTERM", termination.seconds);
    die();
}

void Termination_stop(void)
{
    bool asked = Termination_is_asked();

    atomic_store(&termination.owner, 0);
    reset_handler();
    if (asked)
        die();
}
