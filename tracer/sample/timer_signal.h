// SPDX-License-Identifier: MIT
// The signal that samples come by: which one it is, and which threads have it
// blocked. There it would stay pending until the program, which did not ask for
// it, takes it (sigwait, signalfd) or asks for it (sigpending).
#ifndef OCULAR_TRACER_SAMPLE_TIMER_SIGNAL_H
#define OCULAR_TRACER_SAMPLE_TIMER_SIGNAL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef void TimerHandler(int number, siginfo_t *info, void *context);

// Installs the handler for `signal`, or for one that nobody has a handler for
// if that is 0 or less. Returns the signal, or -EBUSY (it has a handler, or
// all have) or -EINVAL (not a signal to choose).
int TimerSignal_install(int signal, TimerHandler *handler);
bool TimerSignal_has(int signal, TimerHandler *handler);

// Whether the calling thread has it blocked. Async-signal-safe.
bool TimerSignal_is_blocked(int signal);

// Whether a thread has the signal blocked, as far as that is known. The thread
// says so when it changes its mask; the sampler's thread reads the mask, since
// there are other ways to change it.
struct Mute {
    // Bit 0: it is blocked. The rest counts the thread's own reports.
    _Atomic uint32_t word;
    unsigned seen_open; // times in a row that it seemed not to be; sampler only
};

#define MUTED 1u // of its word

static inline bool Mute_is_on(const struct Mute *mute)
{
    return atomic_load(&mute->word) & MUTED;
}

// For a thread of which nothing is known: it has the signal blocked, unless the
// next reading finds otherwise. Not shared yet.
void Mute_init(struct Mute *mute);
// The sampler's thread reads its mask; it does not undo a report of the thread
// that comes meanwhile. 20 us.
void Mute_read(struct Mute *mute, pid_t tid, int signal);
// The calling thread, whose it is, has changed its mask. Returns Mute_is_on.
bool Mute_say(struct Mute *mute, int signal);
// Takes back a timer's signals to the calling thread, which has the signal
// blocked.
void TimerSignal_take_back(int signal);

#endif
