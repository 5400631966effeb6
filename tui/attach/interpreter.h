// SPDX-License-Identifier: MIT
// Finds out which CPython another process runs, and where CPython's state is in
// its memory. The functions of interpreter.h do not change the process.
#pragma once

#include "tui/attach/image.h"

#include <stdbool.h>

struct Interpreter {
    pid_t pid;
    struct Image image;
    uint64_t program;      // A value that changes if the process runs exec.
    uint64_t runtime;      // Address of _PyRuntime in the process.
    uint64_t runtime_size; // Size of _PyRuntime in bytes; 0 if it is not known.
    unsigned major;        // First number of the version: 3.
    unsigned minor;        // Second number of the version, for example 14.
    unsigned patch;
    bool free_threaded;
};

// Indices of offsets in _Py_DebugOffsets, the table with which _PyRuntime
// begins from 3.13 on. The offsets of FINALIZING and INTERPRETERS are in
// _PyRuntime, and those of THREADS and RUNNING in the state of an interpreter.
enum { OFFSET_FINALIZING = 4, OFFSET_INTERPRETERS = 5, OFFSET_THREADS = 9 };
enum { OFFSET_RUNNING = 10, OFFSETS };

// struct InterpreterState says where CPython's state is at the moment.
struct InterpreterState {
    uint64_t offsets[OFFSETS]; // 0: 3.12 has no such offset.
    uint64_t main; // Address of the main interpreter's state; 0: there is none.
};

// The oldest minor version of CPython 3 that Ocular supports.
#define INTERPRETER_MINOR_LEAST 12
// The first minor version of CPython 3 with PEP 768.
#define INTERPRETER_MINOR_DOOR 14
// The newest minor version of CPython 3 whose tables Ocular knows.
#define INTERPRETER_MINOR_MOST 15

// Returns 0, or a negative errno with the reason in `why`: -ENOEXEC if no
// CPython was found, -ENOTSUP for a CPython that Ocular does not support, and
// -EPERM if the kernel forbids reading the memory.
int Interpreter_find(struct Interpreter *found, pid_t pid, char *why,
                     size_t why_size);
// Returns 0 or -errno.
int Interpreter_read_state(const struct Interpreter *found,
                           struct InterpreterState *state);
// Returns 0 if the process has not run exec since Interpreter_find filled
// `found`. If the process has run exec, returns -EINPROGRESS with the reason in
// `why`.
int Interpreter_check_same(const struct Interpreter *found, char *why,
                           size_t why_size);
