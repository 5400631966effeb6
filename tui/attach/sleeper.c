// SPDX-License-Identifier: MIT
#include "tui/attach/sleeper.h"

#include "tui/attach/code_page.h"
#include "tui/attach/process_memory.h"
#include "tui/attach/script.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define THREADS_MOST 4096
// Number of tries. In each try a thread runs for a moment.
#define TRIES 10
// Number of ns for which the thread runs in the first try. Later tries are
// longer.
#define MOMENT_NS 200000

// Offsets in a thread's state in one minor version of CPython, in bytes.
static const struct Layout {
    uint64_t status, native_id;
} layouts[] = {
    [12] = {24, 144}, [13] = {32, 160}, [14] = {32, 160}, [15] = {32, 184}};
#define NEXT 8 // NEXT and INTERP are offsets in a thread's state.
#define INTERP 16

// Bits of `status` in the state of a thread.
enum { INITIALIZED = 1, BOUND = 2, ACTIVE = 16 };

struct Sleeper {
    const struct Interpreter *interpreter;
    struct Stop *stop;
    struct InterpreterState state;
    // Mmap and the next members are addresses of functions in the process.
    uint64_t mmap;
    uint64_t start_thread;
    struct CodePage page;
};

static int read_word(const struct Sleeper *sleeper, uint64_t address,
                     uint64_t *out)
{
    return ProcessMemory_read(sleeper->interpreter->pid, address, out,
                              sizeof *out);
}

// --- The system call in which a thread waits

// Returns true if the thread's system call waits for other threads or
// processes. FUTEX_WAIT does not count, because the C library's own locks use
// it. FUTEX_WAIT_BITSET counts, because condition variables and semaphores use
// it.
static bool waits(const struct Sleep *sleep)
{
    char path[64];
    struct stat file;
    switch (sleep->number) {
    case SYS_read:
    case SYS_readv:
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)sleep->pid,
                 (int)sleep->arguments[0]);
        return stat(path, &file) == 0 && !S_ISREG(file.st_mode);
    case SYS_futex:
        return (sleep->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    // A system call with a timeout that the kernel restarts after a signal.
    case SYS_restart_syscall:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept4:
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_clock_nanosleep:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
#ifdef __x86_64__ // Newer architectures do not have the next system calls.
    case SYS_accept:
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_pause:
#endif
        return true;
    default:
        return false;
    }
}

static bool has_stopped(const struct Sleeper *sleeper, pid_t thread)
{
    for (size_t i = 0; i < sleeper->stop->count; i++) {
        if (sleeper->stop->threads[i].id == thread)
            return !sleeper->stop->threads[i].signal;
    }
    return false;
}

// Returns true if the thread has released the GIL, and sleeps in a system call
// for which waits() returns true. The thread is not inside malloc(), because
// the interpreter has made this system call.
static bool is_usable(const struct Sleeper *sleeper, uint64_t thread,
                      struct Sleep *sleep)
{
    const struct Layout *layout = &layouts[sleeper->interpreter->minor];
    uint64_t interp, status, id;
    return !read_word(sleeper, thread + INTERP, &interp) &&
           !read_word(sleeper, thread + layout->status, &status) &&
           !read_word(sleeper, thread + layout->native_id, &id) &&
           interp == sleeper->state.main &&
           (status & (INITIALIZED | BOUND | ACTIVE)) == (INITIALIZED | BOUND) &&
           has_stopped(sleeper, (pid_t)id) &&
           Sigframe_look(sleep, sleeper->interpreter->pid, (pid_t)id) &&
           !sleep->called && waits(sleep);
}

// --- Functions of the process

// Finds a function of the C library, whose file is libc.so, libc-* or
// ld-musl-*.
static int find_in_c(const struct Sleeper *sleeper, const char *name,
                     uint64_t *address)
{
    char path[64], *line = NULL;
    size_t size = 0;
    int error = -ENOENT;
    snprintf(path, sizeof path, "/proc/%d/maps",
             (int)sleeper->interpreter->pid);
    FILE *maps = fopen(path, "re");
    while (maps && error && getline(&line, &size, maps) > 0) {
        unsigned long long base, offset;
        struct Image image;
        struct Symbol symbol;
        if (sscanf(line, "%llx-%*x %*s %llx", &base, &offset) == 2 && !offset &&
            (strstr(line, "/libc.so") || strstr(line, "/libc-") ||
             strstr(line, "/ld-musl-")))
            error = Image_load(&image, sleeper->interpreter->pid, base);
        if (!error)
            error = Image_find(&image, name, &symbol);
        if (!error)
            *address = symbol.address;
    }
    free(line);
    if (maps)
        fclose(maps);
    return error;
}

static int find_functions(struct Sleeper *sleeper)
{
    const struct {
        const char *name;
        uint64_t *address;
    } functions[] = {
        {"PyGILState_Ensure", &sleeper->page.ensure},
        {"PyRun_SimpleString", &sleeper->page.run},
        {"PyGILState_Release", &sleeper->page.release},
        {"PyThread_start_new_thread", &sleeper->start_thread},
    };
    struct Symbol symbol;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        int error = Image_find(&sleeper->interpreter->image, functions[i].name,
                               &symbol);
        if (error)
            return error;
        *functions[i].address = symbol.address;
    }
    int error = find_in_c(sleeper, "mmap", &sleeper->mmap);
    return error ? error : find_in_c(sleeper, "munmap", &sleeper->page.unmap);
}

// --- Calls by a sleeping thread

// Returns 0 or -ENOENT.
static int find_thread(const struct Sleeper *sleeper, struct Sleep *sleep)
{
    uint64_t thread = 0;
    const struct InterpreterState *state = &sleeper->state;
    int error = read_word(sleeper, state->main + state->offsets[OFFSET_THREADS],
                          &thread);
    for (int i = 0; !error && thread && i < THREADS_MOST; i++) {
        if (is_usable(sleeper, thread, sleep))
            return 0;
        error = read_word(sleeper, thread + NEXT, &thread);
    }
    return -ENOENT;
}

// Lets the thread run for a short time, in which it makes the call. The time is
// longer for a larger `try`, because a thread may get a CPU late on a busy
// machine.
static int let_run(const struct Sleeper *sleeper, pid_t thread, int try)
{
    return Stop_let_run(sleeper->stop, thread,
                        MOMENT_NS << (try < 6 ? try : 6));
}

// Makes a sleeping thread map the page and sleep again. All other threads of
// the process stay stopped. Sets *by to the thread that has mapped the page.
static int map_page(const struct Sleeper *sleeper, uint64_t place, pid_t *by)
{
    pid_t pid = sleeper->interpreter->pid;
    const struct SigframeCall map = CodePage_map(sleeper->mmap, place);
    struct Sleep sleep;
    int error = find_thread(sleeper, &sleep);
    *by = sleep.thread;
    if (!error)
        error = Sigframe_call(&sleep, &map);
    for (int i = 0; !error && i < TRIES; i++) {
        error = let_run(sleeper, *by, i);
        if (!error && CodePage_is_there(pid, place))
            return 0;
        if (!error && Sigframe_look(&sleep, pid, *by) && !sleep.called)
            // The process may not map an executable page.
            error = -EACCES;
    }
    return error ? error : -EBUSY;
}

// Makes a sleeping thread start the new thread that runs the script. The thread
// that starts it may be another one than the thread that has mapped the page.
// If no other thread sleeps, waits until the thread that has mapped the page
// sleeps again.
static int start_thread(struct Sleeper *sleeper, uint64_t place, pid_t mapped)
{
    const struct SigframeCall start =
        CodePage_start(sleeper->start_thread, place);
    struct Sleep sleep;
    int error = find_thread(sleeper, &sleep);
    for (int i = 0; error == -ENOENT && mapped && i < TRIES; i++) {
        error = let_run(sleeper, mapped, i);
        if (!error)
            error = find_thread(sleeper, &sleep);
    }
    if (!error)
        error = CodePage_write(&sleeper->page, sleep.thread, place);
    return error ? error : Sigframe_call(&sleep, &start);
}

int Sleeper_run(const struct Interpreter *interpreter, struct Stop *stop,
                const char *script)
{
    struct Sleeper sleeper = {.interpreter = interpreter, .stop = stop};
    pid_t mapped = 0;
    int size = snprintf(sleeper.page.text, sizeof sleeper.page.text,
                        SCRIPT_LINE, script);
    uint64_t place = CodePage_place(interpreter->pid);
    int error = size >= (int)sizeof sleeper.page.text ? -E2BIG
                : place                               ? 0
                                                      : -ENOMEM;
    if (!error)
        error = Interpreter_read_state(interpreter, &sleeper.state);
    if (!error)
        error = find_functions(&sleeper);
    if (!error && !CodePage_is_there(interpreter->pid, place))
        error = map_page(&sleeper, place, &mapped);
    return error ? error : start_thread(&sleeper, place, mapped);
}
