// SPDX-License-Identifier: MIT
// Converts a snapshot to Python objects, by the tables of ipc/snapshot.h. The
// result has the structure that ocular-top --json prints. Callers hold the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/row_set.h"
#include "tracer/session/listing_detail.h"

// Converts a struct that the table describes. Returns a new dict, or NULL with
// an exception.
PyObject *Convert_record(const struct Record *record, const void *value);
// Converts a snapshot that has all rows. Returns a new dict, or NULL with an
// exception.
PyObject *Convert_snapshot(const struct Snapshot *snapshot);
// Converts a published snapshot, including functions that the snapshot shares
// with earlier snapshots. Returns a new dict, or NULL with an exception.
PyObject *Convert_published(const struct Snapshot *snapshot);
// Returns a new list with a dict for each instruction of a listing, or NULL
// with an exception. In precise mode "generic" is True, because the cycles are
// measured on the generic form of an instruction.
PyObject *Convert_detail(const struct ListingDetail *detail,
                         const struct Opcodes *opcodes);
