// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // REG_RIP needs _GNU_SOURCE.
#include "tracer/base/tsc_guard.h"

#include "tracer/base/own_text.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

// The guard's variables are global, because a signal handler gets no pointer to
// a struct of ours.
atomic_bool tsc_guard_tripped;
static void (*_Atomic tell)(void);

void TscGuard_trip(void)
{
    void (*on_trip)(void) = atomic_load(&tell);

    if (!atomic_exchange(&tsc_guard_tripped, true) && on_trip)
        on_trip();
}

#if defined(__x86_64__)

static void on_fault(int number, siginfo_t *info, void *context)
{
    static const uint8_t rdtsc[] = {0x0f, 0x31};
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t at = (uintptr_t)registers[REG_RIP];

    if (info->si_code == SI_KERNEL && OwnText_holds(at) &&
        memcmp((const void *)at, rdtsc, sizeof rdtsc) == 0) {
        registers[REG_RAX] = registers[REG_RDX] = 0;
        registers[REG_RIP] += (greg_t)sizeof rdtsc;
        TscGuard_trip();
        return;
    }
    // After the return from this handler, a faulting instruction faults again,
    // and the kernel takes the default action. A signal that another process
    // has sent must be raised again here.
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
        raise(number);
}

static bool has_handler(void)
{
    struct sigaction action;

    return sigaction(SIGSEGV, NULL, &action) == 0 &&
           action.sa_flags & SA_SIGINFO && action.sa_sigaction == on_fault;
}

static void install(void)
{
    struct sigaction action, before;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    // All signals are blocked in this handler of SIGSEGV. Otherwise another
    // signal handler could interrupt this one and read the time stamp counter,
    // and the kernel would kill the process because SIGSEGV is blocked.
    sigfillset(&action.sa_mask);
    if (sigaction(SIGSEGV, NULL, &before) == 0 &&
        !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &action, NULL);
}

#else // Other CPUs do not forbid reading their time stamp counters.

static bool has_handler(void)
{
    return false;
}

static void install(void)
{
}

#endif

void TscGuard_start(void (*on_trip)(void))
{
    OwnText_find();
    atomic_store(&tell, on_trip);
    atomic_store(&tsc_guard_tripped, false);
    install();
}

void TscGuard_stop(void)
{
    if (has_handler())
        signal(SIGSEGV, SIG_DFL);
}
