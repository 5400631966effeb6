// SPDX-License-Identifier: MIT
// CPython publishes the offsets of its fields in a table of 64-bit numbers
// (_Py_DebugOffsets). The table of offsets is the same in all patch versions of
// one minor version.
#include "tui/attach/door.h"

#include "tui/attach/process_memory.h"
#include "tui/attach/script.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TABLE_MOST 128
#define THREADS_MOST 1024
#define STOP_BIT 32 // _PY_EVAL_PLEASE_STOP_BIT
#define PATH_SIZE 512
#define FAR 1000000 // Every offset of a field in its struct is below FAR.

// Indices of offsets in the table. In 3.14 and 3.15 these indices are the same.
enum { RUNTIME_SIZE = 3, THREADS_HEAD = 9, THREADS_MAIN = 10 };
enum { NEXT = 24, INTERP = 25 };

// Indices of offsets in `support`, which is the last six entries of the table.
enum { BREAKER, SUPPORT, ENABLED, FLAG, PATH, PATH_ROOM };

struct Door {
    const struct Interpreter *interpreter;
    uint64_t table[TABLE_MOST];
    const uint64_t *support; // The last six entries of `table`.
    uint64_t main; // Address of the main interpreter's state in the process.
};

static int refuse(const struct Interpreter *interpreter, int error, char *why,
                  size_t why_size)
{
    if (error == -EAGAIN)
        snprintf(why, why_size,
                 "another debugger has asked process %d to run a script, which "
                 "it has not done yet",
                 (int)interpreter->pid);
    else if (error == -EACCES)
        snprintf(why, why_size,
                 "process %d does not let itself be attached to: it was "
                 "started with PYTHON_DISABLE_REMOTE_DEBUG or -X "
                 "disable-remote-debug, or its Python was built so. Start it "
                 "without, or with `python -m ocular --serve`",
                 (int)interpreter->pid);
    else
        snprintf(why, why_size,
                 "the state of Python 3.%u in process %d is not as this "
                 "Ocular knows it: start the program with `python -m ocular "
                 "--serve`",
                 interpreter->minor, (int)interpreter->pid);
    return error;
}

static int read_word(const struct Door *door, uint64_t address, uint64_t *out)
{
    return ProcessMemory_read(door->interpreter->pid, address, out,
                              sizeof *out);
}

// Returns false if a number in `table` or `support` cannot belong to a table of
// offsets, for example because it is too large.
static bool is_sound(const struct Door *door)
{
    const uint64_t *table = door->table, *support = door->support;
    uint64_t size = door->interpreter->runtime_size;
    return (!size || table[RUNTIME_SIZE] == size) &&
           table[OFFSET_INTERPRETERS] < FAR && table[THREADS_HEAD] < FAR &&
           table[THREADS_MAIN] < FAR && table[NEXT] < FAR &&
           table[INTERP] < FAR && support[BREAKER] < FAR &&
           support[SUPPORT] < FAR && support[ENABLED] < FAR &&
           support[FLAG] < PATH_SIZE && support[PATH] < PATH_SIZE &&
           support[PATH_ROOM] == PATH_SIZE;
}

static int open_door(struct Door *door, const struct Interpreter *interpreter)
{
    size_t length = interpreter->minor == 14 ? 95 : 111;
    struct InterpreterState state;
    *door = (struct Door){.interpreter = interpreter};
    int error = ProcessMemory_read(interpreter->pid, interpreter->runtime,
                                   door->table, length * sizeof *door->table);
    door->support = door->table + length - 6;
    if (!error && !is_sound(door))
        error = -ENOTSUP;
    if (!error)
        error = Interpreter_read_state(interpreter, &state);
    if (!error && !state.main)
        error = -ENOTSUP;
    door->main = error ? 0 : state.main;
    return error;
}

// Returns true if `thread` is the state of a thread of the main interpreter.
static bool is_thread(const struct Door *door, uint64_t thread)
{
    uint64_t interp;
    return thread && !read_word(door, thread + door->table[INTERP], &interp) &&
           interp == door->main;
}

// Returns true if the script's path in the thread's state is a path of
// ocular-top. An earlier viewer may have been killed after its request.
static bool holds_ours(const struct Door *door, uint64_t support)
{
    char path[sizeof SCRIPT_PREFIX - 1];
    return !ProcessMemory_read(door->interpreter->pid,
                               support + door->support[PATH], path,
                               sizeof path) &&
           memcmp(path, SCRIPT_PREFIX, sizeof path) == 0;
}

// Returns 0, or -EAGAIN if a request of another debugger is pending, or another
// -errno.
static int ask_thread(const struct Door *door, uint64_t thread,
                      const char *script)
{
    pid_t pid = door->interpreter->pid;
    uint64_t support = thread + door->support[SUPPORT], breaker;
    int32_t flag;
    int error = read_word(door, thread + door->support[BREAKER], &breaker);
    if (!error)
        error = ProcessMemory_read(pid, support + door->support[FLAG], &flag,
                                   sizeof flag);
    if (!error && flag && !holds_ours(door, support))
        return -EAGAIN;
    flag = 1;
    if (!error)
        error = ProcessMemory_write(pid, support + door->support[PATH], script,
                                    strlen(script) + 1);
    if (!error)
        error = ProcessMemory_write(pid, support + door->support[FLAG], &flag,
                                    sizeof flag);
    breaker |= STOP_BIT;
    if (!error)
        error = ProcessMemory_write(pid, thread + door->support[BREAKER],
                                    &breaker, sizeof breaker);
    return error;
}

int Door_ask(const struct Interpreter *interpreter, const char *script,
             bool all, char *why, size_t why_size)
{
    struct Door door;
    uint64_t thread = 0;
    int32_t enabled = 0;
    int error = open_door(&door, interpreter);
    if (!error)
        error = ProcessMemory_read(interpreter->pid,
                                   door.main + door.support[ENABLED], &enabled,
                                   sizeof enabled);
    if (!error && enabled != 1)
        error = -EACCES;
    if (!error)
        error = read_word(
            &door, door.main + door.table[all ? THREADS_HEAD : THREADS_MAIN],
            &thread);
    if (!error && !is_thread(&door, thread))
        error = -ENOTSUP;
    for (int i = 0; !error && thread && i < (all ? THREADS_MOST : 1); i++) {
        error = is_thread(&door, thread) ? ask_thread(&door, thread, script)
                                         : -ENOTSUP;
        if (!error)
            error = read_word(&door, thread + door.table[NEXT], &thread);
    }
    return error ? refuse(interpreter, error, why, why_size) : 0;
}

static void withdraw_thread(const struct Door *door, uint64_t thread)
{
    pid_t pid = door->interpreter->pid;
    uint64_t support = thread + door->support[SUPPORT];
    const char nothing[SCRIPT_PATH] = "";
    const int32_t flag = 0;
    if (!holds_ours(door, support))
        return;
    ProcessMemory_write(pid, support + door->support[FLAG], &flag, sizeof flag);
    ProcessMemory_write(pid, support + door->support[PATH], nothing,
                        sizeof nothing);
}

void Door_withdraw(const struct Interpreter *interpreter)
{
    struct Door door;
    uint64_t thread = 0;
    int error = open_door(&door, interpreter);
    if (!error)
        error = read_word(&door, door.main + door.table[THREADS_HEAD], &thread);
    for (int i = 0; !error && is_thread(&door, thread) && i < THREADS_MOST;
         i++) {
        withdraw_thread(&door, thread);
        error = read_word(&door, thread + door.table[NEXT], &thread);
    }
}
