// SPDX-License-Identifier: MIT
// Makes a stopped thread of another process call one function and then continue
// the system call in which it slept, as it would after a signal handler. The
// function's frame and the way back lie on the thread's own stack, in the
// kernel's format for signal frames. The last step sets the thread's registers;
// from then on it needs no help, even if this program is killed. Called by
// sleeper.c, in the process that has stopped the thread. x86-64 only.
#ifndef OCULAR_TUI_ATTACH_SIGFRAME_H
#define OCULAR_TUI_ATTACH_SIGFRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct SigframeCall {
    uint64_t function; // address in the process
    uint64_t arguments[6];
};

struct Sleep {
    pid_t pid, thread;
    long number; // number of the system call in which the thread sleeps
    uint64_t arguments[2];
    uint64_t restorer; // address of code that calls rt_sigreturn
    bool repeats; // the system call can be restarted; else it fails with EINTR
    bool called;  // the thread is still in an earlier call of ours
};

// Fills in `sleep`. Returns true if the thread is in a system call that may be
// interrupted for a moment and has room on its stack, or if sleep->called is
// set. Returns false if this cannot be determined.
bool Sigframe_look(struct Sleep *sleep, pid_t pid, pid_t thread);
// Returns 0, or -errno with the thread unchanged.
int Sigframe_call(const struct Sleep *sleep, const struct SigframeCall *call);

#endif
