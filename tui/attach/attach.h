// SPDX-License-Identifier: MIT
// Starts Ocular in a process that was started without it, and ends it again. If
// a function of attach.h fails, the process is unchanged and `why` has the
// reason.
#pragma once

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct AttachRequest {
    pid_t pid;
    // A folder that contains an ocular/ for the process, or NULL.
    const char *package;
    // True if the user has agreed although Attach_may_kill() is true.
    bool despite_filter;
};

// Checks from outside whether Ocular can attach to the process. Returns 0, or a
// negative errno with the reason in `why`: -EBUSY if another debugger controls
// the process, -EAGAIN if the process is stopped, -EACCES if the process
// forbids debuggers, or an error of Interpreter_find.
int Attach_check(struct Interpreter *interpreter, pid_t pid, char *why,
                 size_t why_size);
// Returns true if the process has a seccomp filter that ocular-top cannot read.
// A filter that ocular-top cannot read could kill the process when Ocular makes
// a system call.
bool Attach_may_kill(pid_t pid);
// Returns 0 if this call has made the process serve viewers, -EALREADY if the
// process served viewers before, or another negative errno. `why` has the
// reason for an error.
int Attach_begin(const struct AttachRequest *request, char *why,
                 size_t why_size);
// Undoes Attach_begin: ends Ocular in the process. Returns 0, or -errno with
// the reason in `why`.
int Attach_end(const struct AttachRequest *request, char *why, size_t why_size);
