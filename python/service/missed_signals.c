// SPDX-License-Identifier: MIT
// This file includes CPython's internal header, because no public header has
// the table of signals.
#define _GNU_SOURCE 1 // For tgkill.
#define Py_BUILD_CORE 1
#include "python/service/missed_signals.h"

#include "ipc/base/opened.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_runtime.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE_S 0.25

// struct SignalTable has the layout of CPython's table of signals
// (Include/internal/pycore_signal.h). The layout of the table is the same in
// CPython 3.12 to 3.15. Other threads may write the table while this file reads
// the table.
struct SignalTable {
    struct {
        volatile int tripped;
        PyObject *volatile handler;
    } of[Py_NSIG];
    int wakeup[2];
    volatile int any_tripped;
};

static_assert(sizeof((struct SignalTable){0}.of) ==
                      sizeof((struct _signals_runtime_state){0}.handlers) &&
                  offsetof(struct SignalTable, any_tripped) ==
                      offsetof(struct _signals_runtime_state, is_tripped),
              "CPython's table of signals is another");

static bool agrees(const struct SignalTable *table, PyObject *getsignal)
{
    for (int number = 1; number < Py_NSIG; number++) {
        PyObject *handler = PyObject_CallFunction(getsignal, "i", number);
        bool same = handler && handler == (table->of[number].handler
                                               ? table->of[number].handler
                                               : Py_None);

        Py_XDECREF(handler);
        if (!same)
            return false;
    }
    return true;
}

void MissedSignals_init(struct MissedSignals *missed)
{
    const struct SignalTable *table = (const void *)&_PyRuntime.signals;
    PyObject *module = PyImport_ImportModule("_signal");
    PyObject *getsignal =
        module ? PyObject_GetAttrString(module, "getsignal") : NULL;

    *missed = (struct MissedSignals){0};
    if (getsignal && agrees(table, getsignal))
        missed->table = table;
    PyErr_Clear();
    Py_XDECREF(getsignal);
    Py_XDECREF(module);
}

static bool main_thread_sleeps(void)
{
    char path[48], text[512], *end;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    if (Opened_read(path, text, sizeof text) < 0)
        return false;
    end = strrchr(text, ')'); // the end of the thread's name
    return end && strncmp(end, ") S", 3) == 0;
}

// Returns true if the signal still has a handler.
static bool has_handler(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 &&
           action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

void MissedSignals_look(struct MissedSignals *missed, double now_s)
{
    const struct SignalTable *table = missed->table;

    if (!table || !table->any_tripped) {
        missed->since_s = 0;
        missed->sent = false;
        return;
    }
    if (missed->since_s <= 0)
        missed->since_s = now_s;
    if (missed->sent || now_s - missed->since_s < PATIENCE_S ||
        !main_thread_sleeps())
        return;
    missed->sent = true;
    for (int number = 1; number < Py_NSIG; number++)
        if (table->of[number].tripped && has_handler(number))
            syscall(SYS_tgkill, getpid(), getpid(), number);
}

bool MissedSignals_was_interrupted(void)
{
    return _PyRuntime.signals.unhandled_keyboard_interrupt == 1;
}
