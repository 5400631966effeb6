// SPDX-License-Identifier: MIT
// See child_files.h. The count is in a page that parent and children share.
#include "python/module/child_files.h"

#include "python/service/service.h"

#include <stdatomic.h>
#include <sys/mman.h>

PyDoc_STRVAR(begin_doc,
             "child_files_begin(): counts from 0 on, here and in "
             "what this process forks. OSError where there is no "
             "memory.");

static PyObject *begin(PyObject *module, PyObject *unused)
{
    void *page = mmap(NULL, sizeof(atomic_uint), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    (void)module, (void)unused;
    if (page == MAP_FAILED)
        return PyErr_SetFromErrno(PyExc_OSError);
    if (ocular_service.child_files)
        munmap(ocular_service.child_files, sizeof(atomic_uint));
    ocular_service.child_files = page;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(take_doc,
             "child_files_take() -> int: how many children have asked "
             "for one before.");

static PyObject *take(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!ocular_service.child_files)
        return PyLong_FromLong(0);
    return PyLong_FromUnsignedLong(
        atomic_fetch_add(ocular_service.child_files, 1));
}

PyDoc_STRVAR(count_doc, "child_files() -> int: how many children have asked.");

static PyObject *count(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!ocular_service.child_files)
        return PyLong_FromLong(0);
    return PyLong_FromUnsignedLong(atomic_load(ocular_service.child_files));
}

PyMethodDef ChildFiles_methods[] = {
    {"child_files_begin", begin, METH_NOARGS, begin_doc},
    {"child_files_take", take, METH_NOARGS, take_doc},
    {"child_files", count, METH_NOARGS, count_doc},
    {NULL, NULL, 0, NULL},
};
