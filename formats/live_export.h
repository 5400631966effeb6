// SPDX-License-Identifier: MIT
// Makes the file of an export from a recording that a traced process has handed
// to a viewer. Any thread of the viewer may call this.
#ifndef OCULAR_FORMATS_LIVE_EXPORT_H
#define OCULAR_FORMATS_LIVE_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

struct LiveExport {
    int recording;    // descriptor of the recording; LiveExport_run closes it
    const char *name; // of the file; its ending selects the format
    int output;       // descriptor of the file, which the caller owns
    // Called from time to time with the finished part (0 to 1) and the present
    // size of the file. Returns false to cancel.
    bool (*progress)(void *context, double done, uint64_t bytes);
    void *context;
    uint64_t bytes; // of the whole file
    // One line if the recording cannot be read, or only in part; otherwise "".
    char why[200];
};

// Returns 0 or -errno. -ECANCELED means that the export was cancelled.
int LiveExport_run(struct LiveExport *export);

#endif
