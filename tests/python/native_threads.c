// SPDX-License-Identifier: MIT
// Threads that Python's threading did not make: they enter the interpreter,
// call a function, and leave it again. For test_threads.py.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

struct Job {
    PyObject *function;
    long times;
    long pause_us;
    pthread_key_t key;
    bool at_end; // call it from a thread-local destructor, too
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

// run(function, times, pause_us, at_end): on a thread of its own, and waits.
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

static PyMethodDef methods[] = {
    {"run", run_thread, METH_VARARGS, NULL},
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
