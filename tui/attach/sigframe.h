// SPDX-License-Identifier: MIT
// Has a stopped thread of another process make one call, and then go on with
// the system call in which it slept, as after a signal's handler: the call and
// its way back lie on its own stack, in frames as the kernel writes them for
// signals. From the one change of its registers on it needs nobody: if we are
// killed, it finds back alone. Called by sleeper.c, in the process that has
// stopped it. x86-64 only.
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
    long number; // of its system call
    uint64_t arguments[2];
    uint64_t restorer; // address of code that calls rt_sigreturn
    bool repeats;      // the call can be made again, else it fails with EINTR
    bool called;       // it is still at such a call
};

// Does it stand in a system call from which it can be taken away for a moment,
// and is there room on its stack? False also if that cannot be seen.
bool Sigframe_look(struct Sleep *sleep, pid_t pid, pid_t thread);
// 0 or -errno: then nothing was changed.
int Sigframe_call(const struct Sleep *sleep, const struct SigframeCall *call);

#endif
