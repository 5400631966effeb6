// SPDX-License-Identifier: MIT
// Which CPython another process runs, and where its state lies. Called by
// attach.c, on the main thread; changes nothing there.
#ifndef OCULAR_TUI_ATTACH_INTERPRETER_H
#define OCULAR_TUI_ATTACH_INTERPRETER_H

#include "tui/attach/image.h"

#include <stdbool.h>

struct Interpreter {
    pid_t pid;
    struct Image image;
    uint64_t program;      // a number that changes when it begins another one
    uint64_t runtime;      // address of _PyRuntime
    uint64_t runtime_size; // bytes; 0: not known
    unsigned major;        // of its version: 3
    unsigned minor;        // 14
    unsigned patch;
    bool free_threaded;
};

#define INTERPRETER_MINOR_LEAST 12 // what Ocular needs
#define INTERPRETER_MINOR_DOOR 14  // has PEP 768
#define INTERPRETER_MINOR_MOST 15  // whose tables we know

// 0, or with `why` in words: -ENOEXEC: no CPython that we can see, -ENOTSUP:
// one that Ocular does not work with, -EPERM: the kernel does not let us look.
int Interpreter_find(struct Interpreter *found, pid_t pid, char *why,
                     size_t why_size);
// Does the process still run the program in which that was found? 0, or
// -EINPROGRESS with `why`: it has begun another one (exec).
int Interpreter_check_same(const struct Interpreter *found, char *why,
                           size_t why_size);

#endif
