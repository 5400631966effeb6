// SPDX-License-Identifier: MIT
// Makes a stopped thread of another process call one function. After the call,
// the thread goes on with its system call, as it does after a signal handler.
// The thread's own stack gets two frames in the kernel's format for signal
// frames, one for the call and one for the return. The last step sets the
// thread's registers. Even if this program is killed after that, the thread
// returns to its system call. sleeper.c calls these functions in the child
// process that has stopped the thread, on x86-64 only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct SigframeCall {
    uint64_t function; // Address of the function in the process.
    uint64_t arguments[6];
};

struct Sleep {
    pid_t pid, thread;
    long number; // Number of the system call in which the thread sleeps.
    uint64_t arguments[2];
    uint64_t restorer; // Address of code that calls rt_sigreturn.
    // True if the system call is restarted, false if it fails with EINTR.
    bool repeats;
    // True if the thread still runs a function that Ocular has called.
    bool called;
};

// Fills the members of `sleep`. Returns true if the thread is in a system call
// that a signal may interrupt, and if its stack has enough room. Also returns
// true if sleep->called is set. Returns false if the state of the thread is
// unknown.
bool Sigframe_look(struct Sleep *sleep, pid_t pid, pid_t thread);
// Makes the thread call the function. Returns 0, or -errno without changing the
// thread.
int Sigframe_call(const struct Sleep *sleep, const struct SigframeCall *call);
