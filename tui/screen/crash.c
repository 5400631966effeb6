// SPDX-License-Identifier: MIT
#include "tui/screen/crash.h"

#include <signal.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static struct {
    // Bytes that restore the terminal. The bytes make the terminal leave the
    // alternate screen, show the cursor, and so on.
    char restore[256];
    // Number of bytes in `restore` (0 = there is nothing to restore).
    volatile sig_atomic_t size;
    struct termios mode;
    int fd;
    // The signal handler has a stack of its own, because a stack overflow is
    // also a crash.
    char stack[16384];
} crash;

bool Crash_save_mode(int fd)
{
    return tcgetattr(fd, &crash.mode) == 0;
}

void Crash_begin(int fd)
{
    crash.fd = fd;
    crash.size = 0;
}

int Crash_add(int byte)
{
    if (crash.size < (int)sizeof crash.restore)
        crash.restore[crash.size++] = (char)byte;
    return byte;
}

void Crash_forget(void)
{
    crash.size = 0;
}

static void on_crash(int number)
{
    if (crash.size) {
        ssize_t ignored = write(crash.fd, crash.restore, (size_t)crash.size);
        (void)ignored;
        tcsetattr(crash.fd, TCSANOW, &crash.mode);
    }
    // SA_RESETHAND has restored the default action, so this signal ends the
    // process.
    raise(number);
}

void Crash_guard(void)
{
    stack_t stack = {.ss_sp = crash.stack, .ss_size = sizeof crash.stack};
    struct sigaction action = {.sa_handler = on_crash,
                               .sa_flags =
                                   SA_RESETHAND | SA_NODEFER | SA_ONSTACK};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        sigaction(crashes[i], &action, NULL);
}

void Crash_unguard(void)
{
    crash.size = 0;
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        signal(crashes[i], SIG_DFL);
}
