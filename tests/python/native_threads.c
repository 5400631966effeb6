// SPDX-License-Identifier: MIT
// Makes threads without Python's module threading. Each thread takes the GIL,
// calls a function and releases the GIL. The thread uses its own thread state
// or the thread state of another thread. Other threads never run Python code.
// This module also forks in C code, without Python's fork handlers.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>

struct Job {
    PyObject *function;
    long times;
    long pause_us;
    pthread_key_t key;
    bool at_end; // true if a thread-local destructor also calls the function
};

static void call(struct Job *job)
{
    PyGILState_STATE state = PyGILState_Ensure();

    Py_XDECREF(PyObject_CallNoArgs(job->function));
    PyErr_Clear();
    PyGILState_Release(state);
}

static void *run(void *context)
{
    struct Job *job = context;
    long i;

    if (job->at_end)
        pthread_setspecific(job->key, job);
    for (i = 0; i < job->times; i++) {
        call(job);
        usleep((useconds_t)job->pause_us);
    }
    return NULL;
}

static void at_end(void *job)
{
    call(job);
}

// run(function, times, pause_us, at_end) calls the function on a new thread and
// waits for the thread.
static PyObject *run_thread(PyObject *module, PyObject *args)
{
    struct Job job;
    pthread_t thread;
    int end;

    (void)module;
    if (!PyArg_ParseTuple(args, "Ollp", &job.function, &job.times,
                          &job.pause_us, &end))
        return NULL;
    job.at_end = end;
    pthread_key_create(&job.key, at_end);
    Py_BEGIN_ALLOW_THREADS;
    pthread_create(&thread, NULL, run, &job);
    pthread_join(thread, NULL);
    Py_END_ALLOW_THREADS;
    pthread_key_delete(job.key);
    Py_RETURN_NONE;
}

struct Visits {
    PyObject *function;
    // The new thread uses this thread state. If `state` is NULL, each call of
    // the function has a new thread state.
    PyThreadState *state;
    // For each byte that comes from this descriptor, the thread calls the
    // function once more. If the descriptor is -1, the function is called only
    // once.
    int fd;
};

// Calls the function once, and then again for each byte from the descriptor.
// While the thread waits for a byte, it does not hold the GIL.
static void *visit(void *context)
{
    struct Visits *visits = context;
    struct Job job = {.function = visits->function};
    char byte;

    do {
        if (visits->state) {
            PyEval_RestoreThread(visits->state);
            Py_XDECREF(PyObject_CallNoArgs(visits->function));
            PyErr_Clear();
            PyEval_SaveThread();
        } else {
            call(&job);
        }
    } while (visits->fd >= 0 && read(visits->fd, &byte, 1) == 1);
    return NULL;
}

// visit(function, fd, own_state) calls the function on a new thread. If
// own_state is true, each call has a new thread state, otherwise all calls use
// the calling thread's state. visit() returns when the thread has ended.
static PyObject *visit_thread(PyObject *module, PyObject *args)
{
    struct Visits visits;
    PyThreadState *state;
    pthread_t thread;
    int own_state;

    (void)module;
    if (!PyArg_ParseTuple(args, "Oip", &visits.function, &visits.fd,
                          &own_state))
        return NULL;
    state = PyEval_SaveThread();
    visits.state = own_state ? NULL : state;
    pthread_create(&thread, NULL, visit, &visits);
    pthread_join(thread, NULL);
    PyEval_RestoreThread(state);
    Py_RETURN_NONE;
}

// fork(attached, fd) forks with or without the GIL, and returns the pid, or 0
// in the child. If fd is not -1, fork() first waits for a byte from fd.
static PyObject *fork_in_c(PyObject *module, PyObject *args)
{
    PyThreadState *state = NULL;
    int attached, fd;
    char byte;
    pid_t pid;

    (void)module;
    if (!PyArg_ParseTuple(args, "pi", &attached, &fd))
        return NULL;
    if (!attached)
        state = PyEval_SaveThread();
    if (fd >= 0 && read(fd, &byte, 1) != 1)
        abort();
    if (attached)
        usleep(20000); // Meanwhile, other threads begin to wait for the GIL.
    pid = fork();
    if (pid == 0) // The kernel ends a hanging child together with its parent.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (state)
        PyEval_RestoreThread(state);
    return PyLong_FromLong(pid);
}

__attribute__((noinline)) static void burns(int fd)
{
    unsigned sum = 0;
    struct pollfd byte = {.fd = fd, .events = POLLIN};

    while (poll(&byte, 1, 0) == 0)
        for (unsigned i = 0; i < 1000000; i++)
            __asm__ volatile("" : "+r"(sum));
}

static void *burn(void *context)
{
    prctl(PR_SET_NAME, "burner");
    burns(*(int *)context);
    return NULL;
}

// burn(fd) uses CPU time on a new thread that never runs Python code, until a
// byte comes from the descriptor.
static PyObject *burn_thread(PyObject *module, PyObject *number)
{
    int fd = (int)PyLong_AsLong(number);
    pthread_t thread;

    (void)module;
    Py_BEGIN_ALLOW_THREADS;
    pthread_create(&thread, NULL, burn, &fd);
    pthread_join(thread, NULL);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"burn", burn_thread, METH_O, NULL},
    {"run", run_thread, METH_VARARGS, NULL},
    {"visit", visit_thread, METH_VARARGS, NULL},
    {"fork", fork_in_c, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "native_threads",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit_native_threads(void)
{
    return PyModule_Create(&definition);
}
