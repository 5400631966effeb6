// SPDX-License-Identifier: MIT
// Reads the clock that gives the ground truth. mark() stores the time stamp
// counter in a list that was allocated before. Ocular's hooks read the same
// counter. While a program runs, this module allocates and frees no memory.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracer/base/clock.h"

#include <stdlib.h>

static uint64_t *marks;
static Py_ssize_t room, used;

static PyObject *mark(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    if (used < room)
        marks[used++] = Clock_counter();
    Py_RETURN_NONE;
}

// Forgets all marks, and makes room for `count` marks.
static PyObject *reset(PyObject *module, PyObject *count)
{
    Py_ssize_t wanted = PyLong_AsSsize_t(count);
    uint64_t *grown;

    (void)module;
    if (wanted < 0)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    grown = realloc(marks, ((size_t)wanted + 1) * sizeof *marks);
    if (!grown)
        return PyErr_NoMemory();
    marks = grown;
    // reset() writes to the pages now, so that mark() causes no page fault.
    memset(marks, 0, ((size_t)wanted + 1) * sizeof *marks);
    room = wanted;
    used = 0;
    Py_RETURN_NONE;
}

// Returns the ticks from each mark to the next one.
static PyObject *spans(PyObject *module, PyObject *nothing)
{
    Py_ssize_t count = used > 1 ? used - 1 : 0, i;
    PyObject *list = PyList_New(count);

    (void)module, (void)nothing;
    for (i = 0; list && i < count; i++) {
        PyObject *span =
            PyLong_FromLongLong((long long)(marks[i + 1] - marks[i]));

        if (!span)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, span);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"mark", mark, METH_NOARGS, "Notes the time."},
    {"reset", reset, METH_O, "Makes room for so many marks."},
    {"spans", spans, METH_NOARGS, "Ticks between the marks."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "timing",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit_timing(void)
{
    return PyModule_Create(&definition);
}
