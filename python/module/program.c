// SPDX-License-Identifier: MIT
// The trace begins after the program is compiled and before its first
// instruction, so a program that does not compile is not traced. To find the
// moment before the first instruction, Ocular sets CPython's function that
// evaluates frames (PEP 523). When the program's first frame comes, Ocular
// restores the function that was set before.
#include "python/module/program.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/tools.h"
#include "python/service/missed_signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Every CPython exports this function. From 3.13 on only an internal header
// declares _Py_GetConfig.
extern const PyConfig *_Py_GetConfig(void);

// Holds the program that runs or is about to run. A process has only one
// program.
static struct Program {
    // A callable that starts the trace just before the program's first code
    // runs. NULL after the start, and NULL if no program is about to run.
    PyObject *begin;
    bool is_module; // True if runpy finds and runs the program.
    // the function of CPython or of another tool that evaluated frames before
    // evaluate_first was set
    _PyFrameEvalFunction evaluate;
} the_program;

// --- The first frame -------------------------------------------------------

// Returns true for the program's first code. Before the program's code CPython
// may run other code, such as a codec's module or the frozen module runpy.
static bool is_first_code(const struct Program *program,
                          const PyCodeObject *code)
{
    const PyObject *file = code->co_filename;

    if (PyUnicode_CompareWithASCIIString(code->co_name, "<module>") != 0)
        return false;
    if (!program->is_module)
        return FrameStack_are_hidden();
    return PyUnicode_GET_LENGTH(file) > 0 &&
           PyUnicode_READ_CHAR(file, 0) != '<';
}

static PyObject *evaluate_first(PyThreadState *thread,
                                struct _PyInterpreterFrame *frame,
                                int throwing);

// Restores the function that evaluated frames before evaluate_first was set,
// unless another tool has replaced evaluate_first.
static void stop_waiting(struct Program *program)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();

    if (_PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate_first)
        _PyInterpreterState_SetEvalFrameFunc(interpreter, program->evaluate);
    Py_CLEAR(program->begin);
}

static void wait_for_code(struct Program *program, PyObject *begin,
                          bool is_module)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();

    program->begin = Py_NewRef(begin);
    program->is_module = is_module;
    program->evaluate = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate_first);
}

// Starts the trace. Returns 0, or -1 with an exception, which the program's
// first line then raises.
static int begin_trace(struct Program *program, PyObject *code)
{
    PyObject *begin = Py_NewRef(program->begin), *result;

    stop_waiting(program);
    result = PyObject_CallOneArg(begin, code);
    Py_DECREF(begin);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static PyObject *evaluate_first(PyThreadState *thread,
                                struct _PyInterpreterFrame *frame, int throwing)
{
    struct Program *program = &the_program;
    _PyFrameEvalFunction evaluate = program->evaluate;
    PyObject *code = PyUnstable_InterpreterFrame_GetCode(frame);

    if (!throwing && program->begin &&
        is_first_code(program, (PyCodeObject *)code))
        throwing = begin_trace(program, code) < 0;
    Py_DECREF(code);
    return evaluate(thread, frame, throwing);
}

// --- -i and PYTHONINSPECT ----------------------------------------------------

// Returns CPython's option `inspect`. If `inspect` is set, SystemExit does not
// end the process.
static bool inspects(void)
{
    return _Py_GetConfig()->inspect != 0;
}

// Returns true if a prompt follows the program.
static bool asks_for_more(void)
{
    return inspects() && (_Py_GetConfig()->interactive || isatty(STDIN_FILENO));
}

// Clears `inspect`, as CPython does before it shows a prompt.
static void exit_at_system_exit(void)
{
    ((PyConfig *)_Py_GetConfig())->inspect = 0;
}

// --- Ctrl-C ------------------------------------------------------------------

// Ends the process by SIGINT, so that a shell knows of the Ctrl-C. CPython's
// exit_sigint() also does this after the finalisation, but not if a Python
// script, such as the installed command, has started Ocular.
static void end_by_interrupt(void)
{
    PyOS_setsig(SIGINT, SIG_DFL);
    kill(getpid(), SIGINT);
}

// Returns the exit status of a program that has failed.
static int failed_status(bool interrupted)
{
    if (!interrupted || asks_for_more())
        return 1;
    // If memory is out, only the exit status tells of the Ctrl-C.
    atexit(end_by_interrupt);
    return 128 + SIGINT;
}

// --- What the module offers ------------------------------------------------

// Shows the frames again. Does not clear a pending exception.
static void show(const struct HiddenFrames *below)
{
    PyObject *error = PyErr_GetRaisedException();

    FrameStack_show(below);
    Tools_renew_raise(&ocular_state);
    PyErr_SetRaisedException(error);
}

// Ends the run of a file or of a string. Returns the exit status.
static PyObject *end_run(struct Program *program,
                         const struct HiddenFrames *below, int failed)
{
    stop_waiting(program);
    show(below);
    return PyLong_FromLong(
        failed ? failed_status(MissedSignals_was_interrupted()) : 0);
}

PyDoc_STRVAR(
    run_file_doc,
    "run_file(begin, path: bytes or None) -> exit status\n\n"
    "Runs a file, or stdin if path is None, as __main__. Calls begin(code or "
    "None) before the program's first code runs. May end the process, as "
    "PyErr_Print does.");

static PyObject *run_file(PyObject *module, PyObject *args)
{
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    struct Program *program = &the_program;
    const char *path, *name;
    PyObject *begin, *given;
    struct HiddenFrames below;
    FILE *file;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:run_file", &begin, &given))
        return NULL;
    path = PyBytes_Check(given) ? PyBytes_AS_STRING(given) : NULL;
    name = path ? path : "<stdin>";
    file = path ? fopen(path, "rbe") : stdin;
    if (!file)
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    FrameStack_hide(&below);
    wait_for_code(program, begin, false);
    // At a prompt the trace begins now, because CPython compiles each statement
    // only after the user has typed the statement.
    if (Py_FdIsInteractive(file, name)) {
        exit_at_system_exit();
        if (begin_trace(program, Py_None) < 0)
            PyErr_Print();
    }
    return end_run(program, &below,
                   PyRun_AnyFileExFlags(file, name, path != NULL, &flags));
}

PyDoc_STRVAR(run_string_doc,
             "run_string(begin, source: str) -> exit status\n\n"
             "Runs the code of `python -c`. Otherwise does the same as "
             "run_file().");

static PyObject *run_string(PyObject *module, PyObject *args)
{
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    struct Program *program = &the_program;
    const char *source;
    PyObject *begin;
    struct HiddenFrames below;

    (void)module;
    if (!PyArg_ParseTuple(args, "Os:run_string", &begin, &source))
        return NULL;
    flags.cf_flags |= PyCF_IGNORE_COOKIE;
    FrameStack_hide(&below);
    wait_for_code(program, begin, false);
    return end_run(program, &below, PyRun_SimpleStringFlags(source, &flags));
}

PyDoc_STRVAR(run_call_doc,
             "run_call(begin, function, arguments: tuple) -> exit status\n\n"
             "Calls a function that runs a module. Otherwise does the same as "
             "run_file(), but a SystemExit of the module is raised.");

// Prints the exception and returns the exit status of the program. A SystemExit
// that is to end the process is not printed but stays set, and the function
// returns 0.
static int report(void)
{
    // As in CPython before 3.14, a subclass of KeyboardInterrupt does not
    // count.
    bool interrupted = PyErr_Occurred() == PyExc_KeyboardInterrupt;

    if (PyErr_ExceptionMatches(PyExc_SystemExit) && !inspects())
        return 0;
    PyErr_Print();
    return failed_status(interrupted || MissedSignals_was_interrupted());
}

static PyObject *run_call(PyObject *module, PyObject *args)
{
    struct Program *program = &the_program;
    PyObject *begin, *function, *arguments, *result;
    struct HiddenFrames below;
    int status;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOO!:run_call", &begin, &function,
                          &PyTuple_Type, &arguments))
        return NULL;
    FrameStack_hide(&below);
    wait_for_code(program, begin, true);
    result = PyObject_CallObject(function, arguments);
    stop_waiting(program);
    status = result ? 0 : report();
    show(&below);
    if (PyErr_Occurred())
        return NULL;
    Py_XDECREF(result);
    return PyLong_FromLong(status);
}

PyDoc_STRVAR(exit_doc,
             "exit(status: int)\n\n"
             "Ends the process, as CPython does after a program that "
             "has failed.");

// Ends the process without a SystemExit. A SystemExit would write the buffers
// of C's stdout before the functions of atexit run, but after a failed program
// CPython writes the buffers last. The functions of atexit see no frame of
// Ocular.
static PyObject *end_process(PyObject *module, PyObject *args)
{
    struct HiddenFrames below;
    int status;

    (void)module;
    if (!PyArg_ParseTuple(args, "i:exit", &status))
        return NULL;
    exit_at_system_exit();
    FrameStack_hide(&below);
    Py_Exit(status);
}

PyMethodDef Program_methods[] = {
    {"run_file", run_file, METH_VARARGS, run_file_doc},
    {"run_string", run_string, METH_VARARGS, run_string_doc},
    {"run_call", run_call, METH_VARARGS, run_call_doc},
    {"exit", end_process, METH_VARARGS, exit_doc},
    {NULL, NULL, 0, NULL},
};
