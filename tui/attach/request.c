// SPDX-License-Identifier: MIT
// To stop the threads of the process, ocular-top starts a child. When this
// child ends, the kernel lets all threads of the process go on, even a thread
// that had not stopped yet.
#include "tui/attach/request.h"

#include "tui/attach/door.h"
#include "tui/attach/pending.h"
#include "tui/attach/readiness.h"
#include "tui/attach/seccomp.h"
#include "tui/attach/sleeper.h"
#include "tui/attach/stop.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIES 100
#define PAUSE_NS 10000000

struct Request {
    const struct Interpreter *interpreter;
    const char *script; // Path of the script; NULL if the request is withdrawn.
    bool all;
    bool wake;  // True to start a thread that runs the script (sleeper.h).
    bool check; // True to check only whether the interpreter is ready.
    // If `check` is true, also checks whether the process's seccomp filters
    // allow Ocular's system calls.
    bool filters;
};

struct Answer {
    int error;
    char why[1024];
};

static int ask(const struct Request *request, struct Stop *stop, char *why,
               size_t why_size)
{
    const struct Interpreter *interpreter = request->interpreter;
    bool door = interpreter->minor >= INTERPRETER_MINOR_DOOR;
    bool withdraws = !request->script && !request->check;
    int error = Interpreter_check_same(interpreter, why, why_size);
    if (error && withdraws)
        return 0; // Exec has removed the old program together with the request.
    if (!error && !withdraws)
        error = Readiness_check(interpreter, why, why_size);
    if (error)
        return error;
    if (request->check)
        return request->filters
                   ? Seccomp_check(stop, interpreter->pid, why, why_size)
                   : 0;
    if (request->wake)
        return Sleeper_run(interpreter, stop, request->script);
    if (request->script && door)
        return Door_ask(interpreter, request->script, request->all, why,
                        why_size);
    if (request->script)
        return Pending_ask(interpreter, request->script, request->all, why,
                           why_size);
    if (door)
        Door_withdraw(interpreter);
    else
        Pending_withdraw(interpreter);
    return 0;
}

static void work(const struct Request *request, int out)
{
    struct Answer answer = {0};
    struct Stop stop;
    answer.error = Stop_all(&stop, request->interpreter->pid, answer.why,
                            sizeof answer.why);
    if (!answer.error) {
        answer.error = ask(request, &stop, answer.why, sizeof answer.why);
        Stop_release(&stop);
    }
    _exit(write(out, &answer, sizeof answer) != sizeof answer);
}

// Returns 0, or -errno with the reason in `why`.
static int run_once(const struct Request *request, char *why, size_t why_size)
{
    struct Answer answer = {-EIO, "its request was interrupted"};
    int ends[2];
    pid_t child = pipe(ends) < 0 ? -1 : fork();
    if (child < 0) {
        snprintf(why, why_size, "no process can be made to ask it");
        return -ENOMEM;
    }
    if (!child)
        work(request, ends[1]);
    close(ends[1]);
    if (read(ends[0], &answer, sizeof answer) != sizeof answer)
        answer.error = -EIO;
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (answer.error)
        snprintf(why, why_size, "%s", answer.why);
    return answer.error;
}

// As long as another request is pending in the process, repeats the request,
// for up to a second.
static int run(const struct Request *request, char *why, size_t why_size)
{
    const struct timespec pause = {0, PAUSE_NS};
    int error = run_once(request, why, why_size);
    for (int i = 0; error == -EAGAIN && i < TRIES; i++) {
        nanosleep(&pause, NULL);
        error = run_once(request, why, why_size);
    }
    return error;
}

int Request_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size)
{
    const struct Request request = {
        .interpreter = interpreter, .script = script, .all = all};
    return run(&request, why, why_size);
}

int Request_wake(const struct Interpreter *interpreter, const char *script)
{
    const struct Request request = {
        .interpreter = interpreter, .script = script, .wake = true};
    char why[512];
    return run(&request, why, sizeof why);
}

int Request_withdraw(const struct Interpreter *interpreter)
{
    const struct Request request = {.interpreter = interpreter};
    char why[512];
    return run(&request, why, sizeof why);
}

int Request_check(const struct Interpreter *interpreter, bool filters,
                  char *why, size_t why_size)
{
    const struct Request request = {
        .interpreter = interpreter, .check = true, .filters = filters};
    return run(&request, why, why_size);
}
