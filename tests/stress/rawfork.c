// SPDX-License-Identifier: MIT
// Forks without Python's knowledge, as a C library could do. The child runs
// only the fork handlers, and ends at once. More is not allowed in the child,
// because threads that exist only in the parent could hold CPython's locks.
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
