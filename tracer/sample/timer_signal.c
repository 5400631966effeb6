// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // for syscall
#include "tracer/sample/timer_signal.h"

#include "ipc/base/opened.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The highest signals, of this number, are not chosen, because debuggers and
// valgrind use them, and qemu-user cannot deliver them.
#define UNUSED_SIGNALS 4
// Each report of a thread's signal mask adds SAID_ONCE to Mute.word.
#define SAID_ONCE 2u
// The signal counts as not blocked if this number of consecutive readings of
// the thread's mask have found it not blocked. A single reading is not enough,
// because a thread that has just woken up shows its temporary mask until it
// gets a CPU.
#define SURE_TIMES 4u

// --- Which one ---------------------------------------------------------------

static bool has_default(int signal)
{
    struct sigaction action;

    return sigaction(signal, NULL, &action) == 0 &&
           !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
}

bool TimerSignal_has(int signal, TimerHandler *handler)
{
    struct sigaction action;

    return sigaction(signal, NULL, &action) == 0 &&
           action.sa_flags & SA_SIGINFO && action.sa_sigaction == handler;
}

// Chooses the free signal with the highest number, because hardly any program
// uses high numbers.
static int choose(TimerHandler *handler)
{
    for (int signal = SIGRTMAX - UNUSED_SIGNALS; signal > SIGRTMIN; signal--)
        if (TimerSignal_has(signal, handler))
            return signal;
    for (int signal = SIGRTMAX - UNUSED_SIGNALS; signal > SIGRTMIN; signal--)
        if (has_default(signal))
            return signal;
    return -EBUSY;
}

int TimerSignal_install(int signal, TimerHandler *handler)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    struct sigaction action = {
        .sa_sigaction = handler,
        .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
    };

    if (signal <= 0)
        signal = choose(handler);
    if (signal == SIGKILL || signal == SIGSTOP)
        return -EINVAL;
    if (signal < 0 ||
        (!TimerSignal_has(signal, handler) && !has_default(signal)))
        return -EBUSY;
    // While the signal handler runs, all signals are blocked (main_signals.h)
    // except those of faults. A crash in the signal handler is thus reported as
    // a crash.
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&action.sa_mask, faults[i]);
    return sigaction(signal, &action, NULL) == 0 ? signal : -errno;
}

// --- Who has it blocked ------------------------------------------------------

// Reads a file of the thread `tid` in /proc. Returns false if this file cannot
// be read.
static bool read_of(pid_t tid, const char *name, char *text, size_t size)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
    return Opened_read(path, text, size) > 0;
}

// Returns true if the thread waits with a temporary signal mask. During a wait
// with a temporary signal mask, the kernel shows only this mask.
static bool waits_with_another_mask(pid_t tid)
{
    // `mask` is the number of the argument that has the temporary signal mask,
    // counted from 1. If this argument is NULL, the system call does not change
    // the signal mask.
    static const struct {
        long number;
        int mask;
    } calls[] = {
        {SYS_rt_sigtimedwait, 1}, {SYS_rt_sigsuspend, 1}, {SYS_ppoll, 4},
        {SYS_epoll_pwait, 5},     {SYS_pselect6, 6},
    };
    char text[256], *at;
    long number;

    if (!read_of(tid, "syscall", text, sizeof text))
        return false;
    // strtol returns 0 if the file has the text "running". `calls` has no
    // system call 0.
    number = strtol(text, &at, 10);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].number != number)
            continue;
        for (int j = 1; j < calls[i].mask; j++)
            strtoull(at, &at, 16);
        return strtoull(at, NULL, 16) != 0;
    }
    return false;
}

enum SignalMask { MASK_OPEN, MASK_BLOCKED, MASK_UNSURE };

// Finds out whether a thread has blocked the signal. Returns MASK_OPEN (not
// blocked) if the kernel does not show the mask.
static enum SignalMask mask_of(pid_t tid, int signal)
{
    static const char field[] = "\nSigBlk:";
    char text[4096], *at;
    bool unsure = waits_with_another_mask(tid);

    if (!read_of(tid, "status", text, sizeof text) ||
        !(at = strstr(text, field)))
        return MASK_OPEN;
    if (strtoull(at + sizeof field - 1, NULL, 16) >> (signal - 1) & 1)
        return MASK_BLOCKED;
    return unsure || waits_with_another_mask(tid) ? MASK_UNSURE : MASK_OPEN;
}

// Returns true if the calling thread has blocked the signal.
static bool is_blocked(int signal)
{
    uint64_t mask = 0;

    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    return mask >> (signal - 1) & 1;
}

void Mute_init(struct Mute *mute)
{
    mute->word = MUTED;
    mute->seen_open = SURE_TIMES - 1;
}

void Mute_read(struct Mute *mute, pid_t tid, int signal)
{
    uint32_t before = atomic_load(&mute->word), word = before;
    enum SignalMask mask = mask_of(tid, signal);

    mute->seen_open = mask == MASK_OPEN ? mute->seen_open + 1 : 0;
    if (mask == MASK_BLOCKED)
        word |= MUTED;
    else if (mute->seen_open >= SURE_TIMES)
        word &= ~MUTED;
    atomic_compare_exchange_strong(&mute->word, &before, word);
}

bool Mute_say(struct Mute *mute, int signal)
{
    uint32_t muted = is_blocked(signal) ? MUTED : 0;
    uint32_t before = atomic_load(&mute->word);

    while (!atomic_compare_exchange_weak(
        &mute->word, &before, ((before + SAID_ONCE) & ~MUTED) | muted))
        continue;
    return muted;
}

void TimerSignal_take_back(int signal)
{
    const struct timespec at_once = {0, 0};
    uint64_t set = UINT64_C(1) << (signal - 1);
    siginfo_t info;

    if (syscall(SYS_rt_sigtimedwait, &set, &info, &at_once, sizeof set) ==
            signal &&
        // Something else than a timer has sent the signal, so it must be sent
        // again.
        info.si_code != SI_TIMER)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal,
                &info);
}
