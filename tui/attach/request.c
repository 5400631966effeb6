// SPDX-License-Identifier: MIT
// See request.h.
#include "tui/attach/request.h"

#include "tui/attach/door.h"
#include "tui/attach/pending.h"
#include "tui/attach/stop.h"

#include <errno.h>
#include <time.h>

#define TRIES 100
#define PAUSE_NS 10000000

static int ask(const struct Interpreter *interpreter, const char *script,
               bool all, char *why, size_t why_size)
{
    struct Stop stop;
    int error = Stop_all(&stop, interpreter->pid, why, why_size);
    if (error)
        return error;
    error = interpreter->minor >= INTERPRETER_MINOR_DOOR
                ? Door_ask(interpreter, script, all, why, why_size)
                : Pending_ask(interpreter, script, all, why, why_size);
    Stop_release(&stop);
    return error;
}

int Request_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size)
{
    const struct timespec pause = {0, PAUSE_NS};
    int error = ask(interpreter, script, all, why, why_size);
    for (int i = 0; error == -EAGAIN && i < TRIES; i++) {
        nanosleep(&pause, NULL);
        error = ask(interpreter, script, all, why, why_size);
    }
    return error;
}

int Request_withdraw(const struct Interpreter *interpreter)
{
    struct Stop stop;
    char why[256];
    int error = Stop_all(&stop, interpreter->pid, why, sizeof why);
    if (error)
        return error;
    if (interpreter->minor >= INTERPRETER_MINOR_DOOR)
        Door_withdraw(interpreter);
    else
        Pending_withdraw(interpreter);
    Stop_release(&stop);
    return 0;
}
