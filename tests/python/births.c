// SPDX-License-Identifier: MIT
// The types Seldom and Often count their births and deaths.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static long long born[2], died[2];
static PyTypeObject types[2];

static PyObject *alloc(PyTypeObject *type, Py_ssize_t size)
{
    born[type - types]++;
    return PyType_GenericAlloc(type, size);
}

static void dealloc(PyObject *object)
{
    died[Py_TYPE(object) - types]++;
    Py_TYPE(object)->tp_free(object);
}

#define COUNTING(name)                                                         \
    {                                                                          \
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = (name),                       \
                                    .tp_basicsize = sizeof(PyObject),          \
                                    .tp_flags = Py_TPFLAGS_DEFAULT,            \
                                    .tp_alloc = alloc, .tp_dealloc = dealloc   \
    }
static PyTypeObject types[2] = {COUNTING("births.Seldom"),
                                COUNTING("births.Often")};

// make(type, count) makes objects that die at once. Returns the births and
// deaths of the type so far.
static PyObject *make(PyObject *module, PyObject *args)
{
    int type;
    long count;

    (void)module;
    if (!PyArg_ParseTuple(args, "il", &type, &count))
        return NULL;
    while (count-- > 0)
        Py_XDECREF(types[type].tp_alloc(&types[type], 0));
    return Py_BuildValue("LL", born[type], died[type]);
}

static PyMethodDef methods[] = {{"make", make, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "births", .m_methods = methods};

PyMODINIT_FUNC PyInit_births(void)
{
    if (PyType_Ready(&types[0]) || PyType_Ready(&types[1]))
        return NULL;
    return PyModule_Create(&definition);
}
