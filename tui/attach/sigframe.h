// SPDX-License-Identifier: MIT
// Makes a stopped thread of another process call one function. After the call,
// the thread continues its system call, in the same way as after a signal
// handler. Two frames, one for the call and one for the return, lie on the
// thread's own stack, in the kernel's format for signal frames. The last step
// sets the thread's registers. From then on, the thread returns to its system
// call even if this program is killed. sleeper.c calls the functions of
// sigframe.h in the child process that has stopped the thread, on x86-64 only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct SigframeCall {
    uint64_t function; // address of the function in the process
    uint64_t arguments[6];
};

struct Sleep {
    pid_t pid, thread;
    long number; // number of the system call in which the thread sleeps
    uint64_t arguments[2];
    uint64_t restorer; // address of code that calls rt_sigreturn
    bool repeats; // true if the system call is restarted, false if it fails
                  // with EINTR
    bool called;  // true if the thread still runs a function that Ocular has
                  // called
};

// Fills the members of `sleep`. Returns true if the thread is in a system call
// that a signal may interrupt, and if its stack has room. Also returns true if
// sleep->called is set. Returns false if the state of the thread is unknown.
bool Sigframe_look(struct Sleep *sleep, pid_t pid, pid_t thread);
// Makes the thread call the function. Returns 0, or -errno without changing the
// thread.
int Sigframe_call(const struct Sleep *sleep, const struct SigframeCall *call);
