// SPDX-License-Identifier: MIT
// Threads that Python's threading did not make: they enter the interpreter,
// call a function, and leave it again. For test_threads.py. And one that never
// does, looked at by another without Ocular. For test_sampler.py.
#define _GNU_SOURCE 1 // cpu_set_t
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
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

// --- What one CPU lets another see -------------------------------------------

enum { NAPS, WORKS, DOINGS };

struct Watched {
    int cpu;
    atomic_bool stop;
    atomic_int doing;
    double spent[DOINGS]; // s of CPU time
};

static double read_s(clockid_t clock)
{
    struct timespec at;

    clock_gettime(clock, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void sleep_us(unsigned us)
{
    nanosleep(&(struct timespec){0, (long)us * 1000}, NULL);
}

static void take_cpu(int number)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(number, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Fifty naps, each of which takes less CPU time than a look; three times as
// much of that for work.
static void *nap_and_work(void *context)
{
    struct Watched *watched = context;

    take_cpu(watched->cpu);
    while (!watched->stop) {
        double begin = read_s(CLOCK_THREAD_CPUTIME_ID), woken, end;

        watched->doing = NAPS;
        for (int i = 0; i < 50; i++)
            sleep_us(100);
        woken = read_s(CLOCK_THREAD_CPUTIME_ID);
        watched->doing = WORKS;
        end = woken + 3 * (woken - begin);
        while (read_s(CLOCK_THREAD_CPUTIME_ID) < end)
            ;
        watched->spent[NAPS] += woken - begin;
        watched->spent[WORKS] += read_s(CLOCK_THREAD_CPUTIME_ID) - woken;
    }
    return NULL;
}

// At random times: which part of ten microseconds it runs, about as long as
// Ocular looks. While a kernel wakes a thread up its clock cannot be read: in a
// look of one microsecond that is most of it, and a third of the naps are seen.
static void look(struct Watched *watched, clockid_t clock, double *seen)
{
    int doing = watched->doing;
    double wall = read_s(CLOCK_MONOTONIC), ran = read_s(clock), part;

    while (read_s(CLOCK_MONOTONIC) < wall + 10e-6)
        ;
    part = read_s(clock) - ran;
    part /= read_s(CLOCK_MONOTONIC) - wall;
    if (watched->doing == doing)
        seen[doing] += part < 1 ? part : 1;
}

// Returns an errno.
static int watch_for(struct Watched *watched, double seconds, double *seen)
{
    unsigned random = 1;
    pthread_t thread;
    clockid_t clock;
    double end;
    int error = pthread_create(&thread, NULL, nap_and_work, watched);

    if (error)
        return error;
    pthread_getcpuclockid(thread, &clock);
    end = read_s(CLOCK_MONOTONIC) + seconds;
    while (read_s(CLOCK_MONOTONIC) < end) {
        sleep_us(1000 + (unsigned)rand_r(&random) % 2000);
        look(watched, clock, seen);
    }
    watched->stop = true;
    pthread_join(thread, NULL);
    return 0;
}

// watch(cpu, other, seconds): the part of its CPU time that a thread on a CPU
// takes for naps, and the part that a thread on the other one sees of that.
static PyObject *watch(PyObject *module, PyObject *args)
{
    struct Watched watched = {0};
    double seen[DOINGS] = {0}, seconds;
    cpu_set_t before;
    int other, error;

    (void)module;
    if (!PyArg_ParseTuple(args, "iid", &watched.cpu, &other, &seconds))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    take_cpu(other);
    error = watch_for(&watched, seconds, seen);
    pthread_setaffinity_np(pthread_self(), sizeof before, &before);
    Py_END_ALLOW_THREADS;
    if (error) {
        errno = error;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return Py_BuildValue("dd",
                         watched.spent[NAPS] /
                             (watched.spent[NAPS] + watched.spent[WORKS]),
                         seen[NAPS] / (seen[NAPS] + seen[WORKS]));
}

static PyMethodDef methods[] = {
    {"run", run_thread, METH_VARARGS, NULL},
    {"watch", watch, METH_VARARGS, NULL},
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
