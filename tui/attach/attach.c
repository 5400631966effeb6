// SPDX-License-Identifier: MIT
#include "tui/attach/attach.h"

#include "ipc/address.h"
#include "ipc/base/now.h"
#include "ipc/process.h"
#include "tui/attach/blocked.h"
#include "tui/attach/package.h"
#include "tui/attach/package_copy.h"
#include "tui/attach/request.h"
#include "tui/attach/script.h"
#include "tui/attach/seccomp.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// If the script has not started after OTHERS_NS ns, the request to run it also
// goes to the other threads.
#define OTHERS_NS 500000000u
#define PATIENCE_NS 5000000000u
// Even on a busy machine, the imports of the script take no longer than
// IMPORT_NS ns.
#define IMPORT_NS 60000000000u
#define PAUSE_NS 10000000
// Another ocular-top finishes detaching within DEBUGGER_NS ns.
#define DEBUGGER_NS 1000000000u
// A new program has mapped its libraries after EXEC_NS ns.
#define EXEC_NS 500000000u
// A thread that has taken the request opens the script within SETTLE_NS ns.
#define SETTLE_NS 50000000

// --- Checks from outside the process

enum Seccomp { SECCOMP_STRICT = 1, SECCOMP_FILTER = 2 };

// Returns the number in the given row of /proc/PID/status, or 0 if there is no
// such row.
static long number_of(const char *status, const char *row)
{
    return strtol(Process_row(status, row), NULL, 10);
}

static long seccomp_of(pid_t pid)
{
    char status[PROCESS_STATUS];
    Process_status(pid, status);
    return number_of(status, "\nSeccomp:");
}

// Attaching needs a process that is not stopped, because a stopped process
// cannot run a script. Attaching also needs a process that no other debugger
// controls by ptrace.
static int check_state(pid_t pid, char *why, size_t why_size)
{
    char status[PROCESS_STATUS];
    // If Process_status fails, the next check reports the error.
    Process_status(pid, status);
    const char *state = Process_row(status, "\nState:\t");
    long tracer = number_of(status, "\nTracerPid:");
    if (tracer) {
        snprintf(
            why, why_size,
            "process %d is held by another debugger, process %ld: end that "
            "first",
            (int)pid, tracer);
        return -EBUSY;
    }
    if (number_of(status, "\nSeccomp:") == SECCOMP_STRICT) {
        snprintf(why, why_size,
                 "process %d has given up all system calls but read and write "
                 "(seccomp's strict mode): attaching would have the kernel "
                 "kill it",
                 (int)pid);
        return -EACCES;
    }
    if (*state == 'T') {
        snprintf(why, why_size,
                 "process %d is stopped (Ctrl-Z?): let it go on with `kill "
                 "-CONT %d`",
                 (int)pid, (int)pid);
        return -EAGAIN;
    }
    return 0;
}

// In CPython 3.14 and newer, the variable PYTHON_DISABLE_REMOTE_DEBUG forbids
// remote debugging. Ocular obeys PYTHON_DISABLE_REMOTE_DEBUG in every version
// of CPython.
static int check_request(pid_t pid, char *why, size_t why_size)
{
    char value[8];
    if (Process_variable(pid, "PYTHON_DISABLE_REMOTE_DEBUG", value,
                         sizeof value) != 1)
        return 0;
    snprintf(
        why, why_size,
        "process %d was started with PYTHON_DISABLE_REMOTE_DEBUG in its "
        "environment: start it without, or with `python -m ocular --serve`",
        (int)pid);
    return -EACCES;
}

bool Attach_may_kill(pid_t pid)
{
    return Seccomp_look(pid) == FILTER_HIDDEN;
}

// Checks that the interpreter is ready, and that no seccomp filter would kill
// the process because of one of Ocular's system calls.
static int check_inside(const struct AttachRequest *request,
                        const struct Interpreter *interpreter, char *why,
                        size_t why_size)
{
    enum FilterSight sight = Seccomp_look(request->pid);
    int error =
        Request_check(interpreter, sight == FILTER_READABLE, why, why_size);
    if (error)
        return error;
    if (sight == FILTER_SHARED)
        return Seccomp_try(request->pid, why, why_size);
    if (sight != FILTER_HIDDEN || request->despite_filter)
        return 0;
    snprintf(why, why_size,
             "process %d has a seccomp filter, which may kill it for a system "
             "call of Ocular's, and which only root may read: run this as "
             "root, or ocular-top on a terminal, which asks",
             (int)request->pid);
    return -EACCES;
}

int Attach_check(struct Interpreter *interpreter, pid_t pid, char *why,
                 size_t why_size)
{
    int error = check_state(pid, why, why_size);
    if (!error)
        error = check_request(pid, why, why_size);
    return error ? error : Interpreter_find(interpreter, pid, why, why_size);
}

// --- Waiting for the script

static bool is_there(pid_t pid)
{
    struct Process process;
    return Process_look(&process, pid) != -ESRCH;
}

static void explain_silence(pid_t pid, char *why, size_t why_size)
{
    char where[128];
    Blocked_describe(pid, where, sizeof where);
    snprintf(why, why_size,
             "process %d has run no Python code for %u s: its main thread %s, "
             "and none waits where it could be asked. Nothing was changed; try "
             "again when it has work",
             (int)pid, (unsigned)(PATIENCE_NS / 1000000000u), where);
}

// Blocks SIGINT, SIGTERM and SIGHUP, until the request is done or withdrawn.
static int hold_signals(sigset_t *before)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    return sigprocmask(SIG_BLOCK, &ours, before);
}

static bool is_interrupted(void)
{
    sigset_t waiting;
    return sigpending(&waiting) == 0 &&
           (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
            sigismember(&waiting, SIGHUP));
}

// Waits until the script has run in the process. Returns 0, or -errno with the
// reason in `why`. After an error the process will not run the script any more.
// Sets *all to true if the request went to all threads, and not only to the
// main thread.
static int await(const struct Interpreter *interpreter,
                 const struct Script *script, bool *all, char *why,
                 size_t why_size)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t start = Now_ns(CLOCK_MONOTONIC), asked = start, now;
    enum ScriptState state = SCRIPT_WAITS;
    bool woken = false;
    *why = '\0';
    while ((state = Script_look(script, why, why_size)) != SCRIPT_DONE) {
        now = Now_ns(CLOCK_MONOTONIC);
        if (!is_there(interpreter->pid)) {
            snprintf(why, why_size, "process %d has ended",
                     (int)interpreter->pid);
            return -ESRCH;
        }
        if (Interpreter_check_same(interpreter, why, why_size))
            return -EINPROGRESS;
        if (state == SCRIPT_WAITS && !*all && now - start > OTHERS_NS) {
            *all = true;
            if (!Script_mark(script, SCRIPT_SHARED) &&
                Request_ask(interpreter, script->path, true, why, why_size) ==
                    -EINPROGRESS &&
                Script_revoke(script))
                return -EINPROGRESS;
        }
        if (state == SCRIPT_WAITS && !woken && now - asked > OTHERS_NS) {
            woken = !Request_wake(interpreter, script->path);
            asked = Now_ns(CLOCK_MONOTONIC);
        }
        bool interrupted = is_interrupted();
        if (state == SCRIPT_WAITS &&
            (interrupted || now - start > PATIENCE_NS) &&
            Script_revoke(script)) {
            explain_silence(interpreter->pid, why, why_size);
            return interrupted ? -EINTR : -ETIMEDOUT;
        }
        if (now - start > IMPORT_NS) {
            snprintf(why, why_size,
                     "process %d has begun to load Ocular and is not through "
                     "with it after 60 s; it may still serve later",
                     (int)interpreter->pid);
            return -ETIMEDOUT;
        }
        nanosleep(&pause, NULL);
    }
    return *why ? -EIO : 0;
}

// Puts the number of the process before the script's message, which begins in
// the middle of a sentence.
static void complete(pid_t pid, int error, char *why, size_t why_size)
{
    if (error != -EIO)
        return;
    char *said = strdup(why);
    snprintf(why, why_size, "in process %d: %s", (int)pid, said ? said : "");
    free(said);
}

// Every process in a container has a seccomp filter. A message therefore names
// the filter only if the filter can be the cause of the error.
static bool is_forbidden(const char *said)
{
    return strstr(said, strerror(EPERM)) || strstr(said, strerror(EACCES)) ||
           strstr(said, strerror(ENOSYS)) ||
           strstr(said, "can't start new thread");
}

// --- Attaching and detaching

// Sets `folder` to a path at which the process can read Ocular's package. If
// the process can read the package of this program, `folder` is that package's
// folder. If the process cannot read the package of this program, Ocular copies
// the package. If the copy fails, `folder` is "" and `why` has the reason. A
// failed copy is no error yet, because the process may have an Ocular of its
// own.
static void make_visible(const struct AttachRequest *request,
                         const struct Interpreter *interpreter,
                         char folder[PATH_MAX], char why[512])
{
    struct Interpreter ours = *interpreter;
    char source[PATH_MAX];
    Package_find(interpreter, request->package, folder);
    ours.pid = getpid();
    if (!*folder)
        Package_find(&ours, request->package, source);
    if (!*folder && *source &&
        !PackageCopy_make(interpreter, source, folder, why, 512))
        *why = '\0';
}

static int ask(const struct AttachRequest *request,
               const struct Interpreter *interpreter, const char *verb,
               char *why, size_t why_size)
{
    const struct timespec settle = {0, SETTLE_NS};
    struct Script script;
    bool all = false, only = false;
    bool begins = strcmp(verb, "begin") == 0;
    char folder[PATH_MAX] = "", copying[512] = "";
    if (begins)
        make_visible(request, interpreter, folder, copying);
    int error =
        Script_write(&script, request->pid, verb, folder, why, why_size);
    if (error) {
        if (begins)
            PackageCopy_remove(request->pid);
        return error;
    }
    error = Script_mark(&script, SCRIPT_ASKED);
    if (!error)
        error = Request_ask(interpreter, script.path, false, why, why_size);
    if (!error) {
        error = await(interpreter, &script, &all, why, why_size);
        complete(request->pid, error, why, why_size);
        if (error == -EIO && *copying)
            snprintf(why + strlen(why), why_size - strlen(why), "; %s",
                     copying);
        if (error == -EIO && is_forbidden(why) &&
            seccomp_of(request->pid) == SECCOMP_FILTER)
            snprintf(why + strlen(why), why_size - strlen(why),
                     "; a seccomp filter restricts what the process may do");
        only = !Request_withdraw(interpreter);
        if (error || all)
            nanosleep(&settle, NULL);
    }
    Script_remove(&script, only);
    if (begins ? error != 0 : !error)
        PackageCopy_remove(request->pid);
    return error;
}

static int try_once(const struct AttachRequest *request, const char *verb,
                    char *why, size_t why_size)
{
    struct Interpreter interpreter;
    sigset_t before;
    int error = Attach_check(&interpreter, request->pid, why, why_size);
    if (!error && strcmp(verb, "begin") == 0)
        error = check_inside(request, &interpreter, why, why_size);
    if (error)
        return error;
    hold_signals(&before);
    error = ask(request, &interpreter, verb, why, why_size);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

// Returns the time in ns for which try_once() is repeated after `error`.
static uint64_t patience(int error)
{
    if (error == -EINPROGRESS)
        return PATIENCE_NS;
    if (error == -EBUSY)
        return DEBUGGER_NS;
    return error == -ENOEXEC || error == -ENOTSUP ? EXEC_NS : 0;
}

static int run(const struct AttachRequest *request, const char *verb, char *why,
               size_t why_size)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t start = Now_ns(CLOCK_MONOTONIC);
    int error = try_once(request, verb, why, why_size);
    while (error && is_there(request->pid) &&
           Now_ns(CLOCK_MONOTONIC) - start < patience(error)) {
        nanosleep(&pause, NULL);
        error = try_once(request, verb, why, why_size);
    }
    if (!error || is_there(request->pid))
        return error;
    snprintf(why, why_size, "process %d has ended", (int)request->pid);
    return -ESRCH;
}

int Attach_begin(const struct AttachRequest *request, char *why,
                 size_t why_size)
{
    struct Served served;
    int error = Address_find(&served, request->pid, why, why_size);
    if (!error) {
        snprintf(why, why_size, "process %d serves already", (int)request->pid);
        return -EALREADY;
    }
    // The kernel can hide a process even from the user who owns it. If the
    // process is hidden, a later check reports the reason.
    if (error != -ENOENT && !(error == -EACCES && served.pid == request->pid))
        return error;
    char other[256];
    error = run(request, "begin", why, why_size);
    // Another program has attached to the process after the check.
    if (error == -EIO &&
        !Address_find(&served, request->pid, other, sizeof other)) {
        snprintf(why, why_size, "process %d serves already", (int)request->pid);
        return -EALREADY;
    }
    return error;
}

int Attach_end(const struct AttachRequest *request, char *why, size_t why_size)
{
    struct Served served;
    int error = Address_find(&served, request->pid, why, why_size);
    if (error == -ENOENT)
        snprintf(why, why_size,
                 "process %d does not serve, so there is nothing to end",
                 (int)request->pid);
    return error ? error : run(request, "end", why, why_size);
}
