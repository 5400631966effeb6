// SPDX-License-Identifier: MIT
#include "python/service/mask_watch.h"
#include "tracer/sample/cpu_timer.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef PyObject *Method(PyObject *, PyObject *const *, Py_ssize_t);

// A copy of CPython's definition of pthread_sigmask, but with Ocular's C
// function set_mask. The copy is global, because CPython passes no data of
// Ocular to a method.
static PyMethodDef ours;
static PyMethodDef *theirs;

static PyObject *set_mask(PyObject *module, PyObject *const *args,
                          Py_ssize_t count)
{
    Method *method = (Method *)(void (*)(void))theirs->ml_meth;
    PyObject *result = method(module, args, count);

    CpuTimer_note_mask();
    return result;
}

// Returns signal.pthread_sigmask as a new reference, or NULL if the object is
// not a C function.
static PyCFunctionObject *find(void)
{
    PyObject *module = PyImport_ImportModule("_signal");
    PyObject *function =
        module ? PyObject_GetAttrString(module, "pthread_sigmask") : NULL;

    if (function && !PyCFunction_CheckExact(function))
        Py_CLEAR(function);
    PyErr_Clear();
    Py_XDECREF(module);
    return (PyCFunctionObject *)function;
}

void MaskWatch_start(void)
{
    PyCFunctionObject *function = find();

    if (function && function->m_ml != &ours &&
        function->m_ml->ml_flags == METH_FASTCALL) {
        theirs = function->m_ml;
        ours = *theirs;
        ours.ml_meth = (PyCFunction)(void (*)(void))set_mask;
        function->m_ml = &ours;
    }
    Py_XDECREF(function);
}

void MaskWatch_stop(void)
{
    PyCFunctionObject *function = find();

    if (function && function->m_ml == &ours)
        function->m_ml = theirs;
    Py_XDECREF(function);
}
