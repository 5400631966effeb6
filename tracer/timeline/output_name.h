// SPDX-License-Identifier: MIT
// The name of the file that is written at stop. Any thread.
#ifndef OCULAR_TRACER_TIMELINE_OUTPUT_NAME_H
#define OCULAR_TRACER_TIMELINE_OUTPUT_NAME_H

#include <limits.h>
#include <stdbool.h>

// The file to write at stop: `output`, or, if that exists, a name with the pid
// (and a number) in it.
void OutputName_choose(const char *output, char path[PATH_MAX]);
bool OutputName_is_device(const char *path);
// Something is there that must not be replaced.
bool OutputName_is_taken(const char *path);
// `output` with the pid in it: a child's own.
void OutputName_own(const char *output, char path[PATH_MAX]);

// That of the recording until then: in `folder`, or beside the output if that
// is "".
void OutputName_recording(const char *output, const char *folder,
                          unsigned number, char path[PATH_MAX]);

#endif
