// SPDX-License-Identifier: MIT
// Chooses the number of the samples' signal, and records which threads have
// blocked the signal. If a thread has blocked the signal, a signal of a timer
// would stay pending, and the program would get (sigwait, signalfd) or see
// (sigpending) a signal for which it did not ask.
#ifndef OCULAR_TRACER_SAMPLE_TIMER_SIGNAL_H
#define OCULAR_TRACER_SAMPLE_TIMER_SIGNAL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef void TimerHandler(int number, siginfo_t *info, void *context);

// Installs the handler for `signal`. If `signal` is 0 or less, chooses a signal
// that has no handler. Returns the number of the signal, or -EBUSY or -EINVAL.
// -EBUSY means that `signal` already has a handler, or that all signals have
// handlers. -EINVAL means that the signal cannot be chosen.
int TimerSignal_install(int signal, TimerHandler *handler);
bool TimerSignal_has(int signal, TimerHandler *handler);

// Returns true if the calling thread has blocked the signal. The function is
// async-signal-safe.
bool TimerSignal_is_blocked(int signal);

// Stores whether a thread has blocked the signal, as far as this is known. The
// thread reports each change of its mask that Ocular notices. The sampler's
// thread also reads the mask, because Ocular does not notice all changes.
struct Mute {
    // Bit 0 is set if the signal is blocked. The other bits count the thread's
    // own reports.
    _Atomic uint32_t word;
    // Number of consecutive readings that show the signal unblocked; sampler
    // only.
    unsigned seen_open;
};

#define MUTED 1u // the bit of Mute.word for a blocked signal

static inline bool Mute_is_on(const struct Mute *mute)
{
    return atomic_load(&mute->word) & MUTED;
}

// Initialises `mute` for an unknown thread. The signal counts as blocked until
// a reading shows that it is not blocked. No other thread may use `mute` before
// the call has returned.
void Mute_init(struct Mute *mute);
// Reads the mask of the thread `tid`, which takes 20 us. The sampler's thread
// calls this function. A report of the thread during the call stays valid.
void Mute_read(struct Mute *mute, pid_t tid, int signal);
// Reports that the calling thread, to which this Mute belongs, has changed its
// mask. Returns Mute_is_on.
bool Mute_say(struct Mute *mute, int signal);
// Removes pending signals of the timers from the calling thread, which has
// blocked the signal.
void TimerSignal_take_back(int signal);

#endif
