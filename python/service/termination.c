// SPDX-License-Identifier: MIT
// The signal handler may run on any thread of the program, also in a forked
// child.
#include "python/service/termination.h"
#include "ipc/listener.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

// Names the socket that the handler removes. The struct is global, because a
// signal handler has no argument for it.
static struct {
    _Atomic pid_t owner; // process id, or 0 if there is no socket
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

// The handler sends the signal again. After the handler has returned, the
// signal ends the process, also in a forked child.
static void on_signal(int number)
{
    int error = errno;

    remove_socket();
    signal(number, SIG_DFL);
    kill(getpid(), number);
    errno = error;
}

static bool has_handler(void (*handler)(int))
{
    struct sigaction action;

    return sigaction(SIGTERM, NULL, &action) == 0 &&
           !(action.sa_flags & SA_SIGINFO) && action.sa_handler == handler;
}

// Returns true if the handler of SIGTERM is Ocular's or the default action.
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
    if (atomic_load(&served.owner) != getpid() && has_handler(on_signal))
        signal(SIGTERM, SIG_DFL);
}

// Does nothing in process 1 of a container, because SIGTERM without a handler
// does not end process 1.
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
