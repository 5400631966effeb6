// SPDX-License-Identifier: MIT
// Makes a stopped thread of another process call one function. After the call
// the thread continues its system call, as after a signal handler. The frames
// for the call and for the return lie on the thread's own stack, in the
// kernel's format for signal frames. The last step sets the thread's registers.
// After this step the thread returns even if this program is killed. sleeper.c
// calls these functions in the process that has stopped the thread, on x86-64
// only.
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
    bool repeats; // the system call is restarted; if false, it fails with EINTR
    bool called;  // the thread is still in an earlier call of ours
};

// Fills `sleep`. Returns true if the thread is in a system call that may be
// interrupted, and has room on its stack. Also returns true if sleep->called is
// set. Returns false if this cannot be determined.
bool Sigframe_look(struct Sleep *sleep, pid_t pid, pid_t thread);
// Makes the thread call the function. Returns 0, or -errno with the thread
// unchanged.
int Sigframe_call(const struct Sleep *sleep, const struct SigframeCall *call);

#endif
