// SPDX-License-Identifier: MIT
// A snapshot as Python objects, by the tables of ipc/snapshot.h: the same
// shape as ocular-top --json. Interpreter's lock held.
#ifndef OCULAR_PYTHON_MODULE_CONVERT_H
#define OCULAR_PYTHON_MODULE_CONVERT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/row_set.h"
#include "tracer/session/listing_detail.h"

// A new dict, or NULL with an exception.
PyObject *Convert_snapshot(const struct Snapshot *snapshot);
// The same with the functions that it shares with others.
PyObject *Convert_published(const struct Snapshot *snapshot);
// A new list of dicts, one a row, or NULL with an exception. "generic": the
// cycles are the unspecialised opcode's own (precise mode).
PyObject *Convert_detail(const struct ListingDetail *detail,
                         const struct Opcodes *opcodes);

#endif
