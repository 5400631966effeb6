// SPDX-License-Identifier: MIT
// Measures how much a sys.monitoring callback costs that does nothing, as the
// lowest possible cost in the benchmark. The callback is an ordinary
// METH_FASTCALL function. No callback of this kind can be faster.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *nothing(PyObject *module, PyObject *const *args,
                         Py_ssize_t count)
{
    (void)module, (void)args, (void)count;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"nothing", (PyCFunction)(void (*)(void))nothing, METH_FASTCALL,
     "Does nothing."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "floor",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit_floor(void)
{
    return PyModule_Create(&definition);
}
