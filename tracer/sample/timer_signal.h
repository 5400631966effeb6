// SPDX-License-Identifier: MIT
// The signal of the samples: its number, and which threads have blocked it. If
// a thread blocks the signal, the signal would stay pending until the program,
// which did not ask for the signal, takes the signal (sigwait, signalfd) or
// sees the signal (sigpending).
#ifndef OCULAR_TRACER_SAMPLE_TIMER_SIGNAL_H
#define OCULAR_TRACER_SAMPLE_TIMER_SIGNAL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef void TimerHandler(int number, siginfo_t *info, void *context);

// Installs the handler for `signal`, or for a signal without a handler if
// `signal` is 0 or less. Returns the signal, or -EBUSY if the signal, or each
// signal, has a handler, or -EINVAL if the signal cannot be chosen.
int TimerSignal_install(int signal, TimerHandler *handler);
bool TimerSignal_has(int signal, TimerHandler *handler);

// Returns true if the calling thread has blocked the signal. Async-signal-safe.
bool TimerSignal_is_blocked(int signal);

// Says whether a thread has blocked the signal, as far as this is known. The
// thread reports each change of its mask. The sampler's thread reads the mask
// as well, because there are other ways to change a mask.
struct Mute {
    // Bit 0: the signal is blocked. The other bits count the thread's own
    // reports.
    _Atomic uint32_t word;
    unsigned seen_open; // unblocked readings in a row; sampler only
};

#define MUTED 1u // a bit of Mute.word

static inline bool Mute_is_on(const struct Mute *mute)
{
    return atomic_load(&mute->word) & MUTED;
}

// Initialises `mute` for an unknown thread: the signal counts as blocked until
// a reading shows that it is not. No other thread may use `mute` yet.
void Mute_init(struct Mute *mute);
// The sampler's thread reads the mask of the thread `tid`, which takes 20 us. A
// report of the thread that comes meanwhile is not undone.
void Mute_read(struct Mute *mute, pid_t tid, int signal);
// The calling thread, whose Mute this is, reports a change of its mask. Returns
// Mute_is_on.
bool Mute_say(struct Mute *mute, int signal);
// Removes the timers' pending signals to the calling thread, which has blocked
// the signal.
void TimerSignal_take_back(int signal);

#endif
