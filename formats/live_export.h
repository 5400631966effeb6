// SPDX-License-Identifier: MIT
// Makes the file of an export from a recording that a traced process has handed
// to a viewer. Any thread of the viewer may call LiveExport_run.
#pragma once

#include "formats/native_names.h"

#include <stdbool.h>
#include <stdint.h>

struct LiveExport {
    // Descriptor of the recording, which LiveExport_run closes.
    int recording;
    const char *name; // Name of the file, whose ending selects the format.
    // Descriptor of the file, which the caller owns and closes.
    int output;
    // Data by which the names of C functions are found. LiveExport_run releases
    // it.
    struct NativeNames names;
    // A function that is called from time to time with the finished fraction (0
    // to 1) and the present size of the file in bytes. `progress` returns false
    // to cancel the export.
    bool (*progress)(void *context, double done, uint64_t bytes);
    void *context;
    uint64_t bytes; // Size of the finished file in bytes.
    // One line of text if the recording cannot be read or is damaged, otherwise
    // "".
    char why[200];
};

// Returns 0 or -errno. -ECANCELED means that the export was cancelled.
int LiveExport_run(struct LiveExport *export);
