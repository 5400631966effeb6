// SPDX-License-Identifier: MIT
// The offsets in this file are the same in all patch versions of a minor
// version. CPython has no flag for the import of `site`. While `site` is
// imported, the main thread's first frame is _find_and_load("site", ...).
#define _GNU_SOURCE 1 // syscall
#include "tui/attach/readiness.h"

#include "ipc/process.h"
#include "tui/attach/process_memory.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIST_MOST 100000 // Maximum number of threads in the list.
// Maximum number of frames on the stack. The import of `site` has fewer frames.
#define FRAMES_MOST 1000
// Bytes from _PyRuntimeState.initialized to _PyRuntimeState._finalizing.
#define INITIALIZED 8
// Bytes from PyInterpreterState.finalizing to PyInterpreterState.threads.head.
#define ENDS_12 28
#define OWNED_BY_INTERPRETER 3 // Mark of a frame that belongs to no function.
#define NAME 120               // PyCodeObject.co_name
#define LENGTH 16              // Offset of the length in a str.
#define TEXT 40                // Offset of the text in an ASCII str.

struct Runtime {
    const struct Interpreter *interpreter;
    struct InterpreterState state;
    // Address of _PyRuntimeState._finalizing in the process.
    uint64_t finalizing;
    uint64_t thread; // Address of the main thread's state; 0 if there is none.
};

static int read_at(const struct Runtime *runtime, uint64_t address, void *out,
                   size_t size)
{
    return ProcessMemory_read(runtime->interpreter->pid, address, out, size);
}

// Reads the 64-bit number at `address`. Returns 0 if `address` is 0, or if the
// memory cannot be read.
static uint64_t word_at(const struct Runtime *runtime, uint64_t address)
{
    uint64_t word;
    return address && !read_at(runtime, address, &word, sizeof word) ? word : 0;
}

static uint32_t number_at(const struct Runtime *runtime, uint64_t address)
{
    uint32_t number;
    return read_at(runtime, address, &number, sizeof number) ? 0 : number;
}

// The main thread is the last one in the list.
static void find_thread(struct Runtime *runtime)
{
    const struct InterpreterState *state = &runtime->state;
    uint64_t next = 0;
    if (state->main)
        next = word_at(runtime, state->main + state->offsets[OFFSET_THREADS]);
    for (int i = 0; next && i < LIST_MOST; i++) {
        runtime->thread = next;
        next = word_at(runtime, next + 8);
    }
}

// --- The import of `site`

static bool is_text(const struct Runtime *runtime, uint64_t object,
                    const char *text)
{
    char there[32];
    size_t length = strlen(text);
    return word_at(runtime, object + LENGTH) == length &&
           !read_at(runtime, object + TEXT, there, length) &&
           memcmp(there, text, length) == 0;
}

// From 3.14 on, the lowest bits of a reference in a frame are tags.
static uint64_t object_at(const struct Runtime *runtime, uint64_t address)
{
    return word_at(runtime, address) & ~(uint64_t)7;
}

// Returns the address of the main thread's first frame that belongs to a
// function. Returns 0 if there is no such frame, or if there are more than
// FRAMES_MOST frames.
static uint64_t first_frame(const struct Runtime *runtime)
{
    unsigned minor = runtime->interpreter->minor;
    uint64_t at = runtime->thread + 72, first = 0;
    if (minor == 12)
        // The struct _PyCFrame of the thread.
        at = word_at(runtime, runtime->thread + 56);
    uint64_t frame = word_at(runtime, at);
    for (int i = 0; frame && i < FRAMES_MOST; i++) {
        unsigned char owner = OWNED_BY_INTERPRETER;
        read_at(runtime, frame + (minor < 14 ? 70 : 74), &owner, 1);
        if (owner != OWNED_BY_INTERPRETER)
            first = frame;
        frame = word_at(runtime, frame + 8);
    }
    return frame ? 0 : first;
}

static bool imports_site(const struct Runtime *runtime)
{
    unsigned local = runtime->interpreter->minor < 14 ? 72 : 80;
    uint64_t frame = first_frame(runtime);
    uint64_t code = object_at(runtime, frame);
    return is_text(runtime, object_at(runtime, code + NAME),
                   "_find_and_load") &&
           is_text(runtime, object_at(runtime, frame + local), "site");
}

// --- The program to which the memory belongs

// A child of vfork() uses its parent's memory until it runs exec. Until the
// child runs exec, the other threads of the parent run.
static bool has_parents_memory(pid_t pid)
{
    long number = Process_parent(pid);
    return number > 0 &&
           syscall(SYS_kcmp, (long)pid, number, (long)KCMP_VM, 0L, 0L) == 0;
}

// Returns true if the main thread has finished the program. From then on,
// CPython 3.12 starts no new threads. Newer versions still start new threads,
// until the program's own threads have ended.
static bool is_ending(const struct Runtime *runtime)
{
    const struct InterpreterState *state = &runtime->state;
    return word_at(runtime, runtime->finalizing) ||
           (runtime->interpreter->minor == 12 && state->main &&
            number_at(runtime,
                      state->main + state->offsets[OFFSET_THREADS] - ENDS_12));
}

int Readiness_check(const struct Interpreter *interpreter, char *why,
                    size_t why_size)
{
    struct Runtime runtime = {.interpreter = interpreter};
    const char *what;
    if (Interpreter_read_state(interpreter, &runtime.state))
        return 0; // The request will report the same error.
    runtime.finalizing =
        interpreter->runtime + runtime.state.offsets[OFFSET_FINALIZING];
    find_thread(&runtime);
    if (has_parents_memory(interpreter->pid))
        what =
            "still has the memory of its parent, and is about to begin a "
            "program (vfork)";
    else if (is_ending(&runtime))
        what = "is about to end: its main thread is through with the program";
    else if (number_at(&runtime, runtime.finalizing - INITIALIZED) != 1 ||
             !runtime.thread)
        what = "has not initialised its Python yet, or has it no more";
    else if (interpreter->minor >= INTERPRETER_MINOR_DOOR &&
             !word_at(&runtime, runtime.state.main +
                                    runtime.state.offsets[OFFSET_RUNNING]))
        what = "is about to begin or to end its program";
    else if (imports_site(&runtime))
        what = "has just begun: its Python imports `site`";
    else
        return 0;
    snprintf(why, why_size, "process %d %s. Nothing was changed; try again",
             (int)interpreter->pid, what);
    return -EINPROGRESS;
}
