// SPDX-License-Identifier: MIT
#include "python/module/recordings.h"
#include "ipc/base/heap.h"
#include "python/module/convert.h"
#include "tracer/timeline/formats.h"

#include <errno.h>

PyDoc_STRVAR(convert_doc,
             "convert(recordings: tuple of bytes, output: bytes) -> tuple\n\n"
             "Converts recordings into an output file. Returns (bytes, events, "
             "text about damage in the recordings, facts about the first "
             "recording as in snapshot()). Raises ValueError if a recording "
             "cannot be read, and OSError if the output cannot be written or "
             "exists.");

// Returns an array of the paths in the tuple, which the caller frees, or NULL
// with an exception.
static const char **names_of(PyObject *recordings)
{
    Py_ssize_t i, count = PyTuple_GET_SIZE(recordings);
    const char **names = Heap_zeroed((size_t)count + 1, sizeof *names);

    if (!count)
        PyErr_SetString(PyExc_ValueError, "there is no recording");
    if (!count || !names) {
        Heap_free(names);
        return count ? (const char **)PyErr_NoMemory() : NULL;
    }
    for (i = 0; i < count; i++) {
        names[i] = PyBytes_AsString(PyTuple_GET_ITEM(recordings, i));
        if (!names[i]) {
            Heap_free(names);
            return NULL;
        }
    }
    return names;
}

static PyObject *convert(PyObject *module, PyObject *args)
{
    struct Conversion conversion = {0};
    const struct Formats *formats;
    const char **names;
    PyObject *recordings, *why, *facts;
    int error;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!y:convert", &PyTuple_Type, &recordings,
                          &conversion.output.path))
        return NULL;
    names = names_of(recordings);
    if (!names)
        return NULL;
    conversion.facts = Snapshot_new();
    if (!conversion.facts) {
        Heap_free(names);
        return PyErr_NoMemory();
    }
    conversion.paths = names;
    conversion.path_count = (size_t)PyTuple_GET_SIZE(recordings);
    Py_BEGIN_ALLOW_THREADS;
    formats = Formats_load();
    error = formats ? formats->convert(&conversion) : -ELIBACC;
    Py_END_ALLOW_THREADS;
    Heap_free(names);
    // The text has names of files, so it is decoded as a name of a file is.
    why = PyUnicode_DecodeFSDefault(conversion.why);
    facts = Convert_snapshot(conversion.facts);
    Snapshot_free(conversion.facts);
    if (why && facts && !error)
        return Py_BuildValue("KKNN", (unsigned long long)conversion.bytes,
                             (unsigned long long)conversion.events, why, facts);
    errno = -error;
    if (why && facts && conversion.unreadable)
        PyErr_SetObject(PyExc_ValueError, why);
    else if (why && facts)
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, conversion.output.path);
    Py_XDECREF(why);
    Py_XDECREF(facts);
    return NULL;
}

PyMethodDef Recordings_methods[] = {
    {"convert", convert, METH_VARARGS, convert_doc},
    {NULL, NULL, 0, NULL},
};
