// SPDX-License-Identifier: MIT
// A fork that Python does not know of, as a C library may do: its child ends at
// once, having run nothing but the fork handlers. (More would be beyond what
// CPython allows: its own locks may be held by threads that are gone.)
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <unistd.h>

static PyObject *raw_fork(PyObject *module, PyObject *args)
{
    pid_t pid = fork();

    (void)module, (void)args;
    if (pid == 0)
        _exit(0);
    return PyLong_FromLong(pid);
}

static PyMethodDef methods[] = {
    {"fork", raw_fork, METH_NOARGS, "The pid of a child that ends at once."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "rawfork",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit_rawfork(void)
{
    return PyModule_Create(&definition);
}
