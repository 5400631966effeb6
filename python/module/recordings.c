// SPDX-License-Identifier: MIT
// See recordings.h.
#include "python/module/recordings.h"
#include "tracer/timeline/formats.h"

#include <errno.h>

PyDoc_STRVAR(convert_doc,
             "convert(recording: bytes, output: bytes) -> (bytes, events, what "
             "was wrong with the recording).\n\n"
             "ValueError: it cannot be read. OSError: the output cannot be "
             "written, or is there.");

static PyObject *convert(PyObject *module, PyObject *args)
{
    struct Conversion conversion = {0};
    const struct Formats *formats;
    int error;

    (void)module;
    if (!PyArg_ParseTuple(args, "yy:convert", &conversion.path,
                          &conversion.output.path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    formats = Formats_load();
    error = formats ? formats->convert(&conversion) : -ELIBACC;
    Py_END_ALLOW_THREADS;
    if (error && conversion.unreadable) {
        PyErr_SetString(PyExc_ValueError, conversion.why);
        return NULL;
    }
    if (error) {
        errno = -error;
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError,
                                              conversion.output.path);
    }
    return Py_BuildValue("KKs", (unsigned long long)conversion.bytes,
                         (unsigned long long)conversion.events, conversion.why);
}

PyMethodDef Recordings_methods[] = {
    {"convert", convert, METH_VARARGS, convert_doc},
    {NULL, NULL, 0, NULL},
};
