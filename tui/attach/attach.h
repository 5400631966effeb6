// SPDX-License-Identifier: MIT
// Has a program that nobody prepared serve, and ends that. The program is
// refused in words, and left as it was, if that cannot be done. Called by
// main, on its thread.
#ifndef OCULAR_TUI_ATTACH_ATTACH_H
#define OCULAR_TUI_ATTACH_ATTACH_H

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct AttachWish {
    pid_t pid;
    const char *package; // the folder with an ocular/ for it, or NULL
    bool despite_filter; // the user knows of Attach_may_kill()
};

// Can it be attached to, as far as can be seen from outside? 0, or with `why`:
// -EBUSY: another debugger holds it, -EAGAIN: it is stopped, -EACCES: it does
// not want that, or as Interpreter_find.
int Attach_check(struct Interpreter *interpreter, pid_t pid, char *why,
                 size_t why_size);
// It has a seccomp filter that we cannot read, and that may kill it for what we
// do there.
bool Attach_may_kill(pid_t pid);
// 0: it serves. -EALREADY: it did already; -errno; `why` says so in words.
int Attach_begin(const struct AttachWish *wish, char *why, size_t why_size);
// 0: what Attach_begin began is over. -errno with `why`.
int Attach_end(const struct AttachWish *wish, char *why, size_t why_size);

#endif
