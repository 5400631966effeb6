// SPDX-License-Identifier: MIT
// Makes a file for other tools out of a recording: a timeline, or, by the
// name's ending, a profile. In a program that is not traced; one thread.
#ifndef OCULAR_TRACER_SESSION_CONVERSION_H
#define OCULAR_TRACER_SESSION_CONVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Conversion {
    uint64_t bytes;  // of the file
    uint64_t events; // of the timeline that it is made of
    bool unreadable; // nothing could be made of the recording
    char why[512];   // what was wrong with the recording; "": nothing
};

// 0 or -errno: of the output (-EEXIST: it is there), or of a recording that is
// unreadable.
int Conversion_run(struct Conversion *conversion, const char *recording,
                   const char *output);

#endif
