// SPDX-License-Identifier: MIT
#include "python/hooks/thread_name.h"
#include "python/hooks/callees.h"

#include "tracer/base/harmless.h"

// Returns an attribute as object.__getattribute__ finds it, even if a subclass
// of Thread overrides __getattribute__. Returns NULL if the class has a
// descriptor of this name, because the descriptor would run code.
static PyObject *plain_attribute(PyObject *object, PyObject *name)
{
    PyObject *of_type = _PyType_Lookup(Py_TYPE(object), name); // borrowed

    if (of_type && Py_TYPE(of_type)->tp_descr_get)
        return NULL;
    return PyObject_GenericGetAttr(object, name);
}

static PyObject *find_name(uintptr_t thread)
{
    PyObject *active = Callees_in_module("threading", "_active"); // borrowed
    PyObject *ident =
        active && PyDict_CheckExact(active) ? PyLong_FromSize_t(thread) : NULL;
    PyObject *object = ident ? PyDict_GetItemWithError(active, ident) : NULL;
    PyObject *key = object ? PyUnicode_InternFromString("_name") : NULL;
    PyObject *name = key ? plain_attribute(object, key) : NULL;

    Py_XDECREF(key);
    Py_XDECREF(ident);
    return name;
}

void ThreadName_get(uintptr_t thread, char *out, size_t size)
{
    PyObject *error = PyErr_GetRaisedException();
    PyObject *name = find_name(thread);
    const char *text =
        name && PyUnicode_CheckExact(name) ? PyUnicode_AsUTF8(name) : NULL;

    Harmless_clean(out, size, text ? text : "", false);
    Py_XDECREF(name);
    PyErr_SetRaisedException(error); // also drops an exception of find_name
}

void ThreadName_own(char *out, size_t size)
{
    ThreadName_get(PyThread_get_thread_ident(), out, size);
}
