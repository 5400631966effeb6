// SPDX-License-Identifier: MIT
// Chooses the number of the signal that takes samples, and records which
// threads have blocked this signal. If a thread has blocked this signal, a
// timer's signal would stay pending. The program would then get (sigwait,
// signalfd) or see (sigpending) a signal that it did not ask for.
#pragma once

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef void TimerHandler(int number, siginfo_t *info, void *context);

// Installs a handler for the signal with this number. If `signal` is 0 or less,
// chooses a signal that has no handler. Returns the signal's number, or -EBUSY
// or -EINVAL. -EBUSY means that `signal` already has a handler, or that all
// signals have handlers. -EINVAL means that the chosen signal cannot have a
// handler.
int TimerSignal_install(int signal, TimerHandler *handler);
bool TimerSignal_has(int signal, TimerHandler *handler);

// struct Mute says whether a thread has blocked the timers' signal, as far as
// this is known. A thread reports each change of its signal mask that Ocular
// notices. The sampler's thread also reads the thread's mask, because Ocular
// does not notice all changes.
struct Mute {
    // Bit 0 of `word` is set if the thread has blocked the signal. The other
    // bits count the thread's reports.
    _Atomic uint32_t word;
    // Number of consecutive readings of the thread's mask that found the signal
    // not blocked. Only the sampler's thread uses `seen_open`.
    unsigned seen_open;
};

#define MUTED 1u // The bit of Mute.word that is set if the signal is blocked.

static inline bool Mute_is_on(const struct Mute *mute)
{
    return atomic_load(&mute->word) & MUTED;
}

// Initialises the Mute of a thread whose mask is not known. The signal counts
// as blocked until a reading of the mask finds that it is not. No other thread
// may use the struct before Mute_init returns.
void Mute_init(struct Mute *mute);
// Reads the signal mask of the thread `tid`, which takes 20 us. Only the
// sampler's thread calls Mute_read. If the thread reports a change of its mask
// meanwhile, only the report counts.
void Mute_read(struct Mute *mute, pid_t tid, int signal);
// Reports that the calling thread has changed its signal mask. `mute` is the
// calling thread's struct Mute. Returns true if the thread has blocked the
// signal.
bool Mute_say(struct Mute *mute, int signal);
// Removes pending signals of the timers from the calling thread, which has
// blocked the signal.
void TimerSignal_take_back(int signal);
