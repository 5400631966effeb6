// SPDX-License-Identifier: MIT
// Chooses the name of the file that is written when tracing stops. Any thread
// may call these functions.
#ifndef OCULAR_TRACER_TIMELINE_OUTPUT_NAME_H
#define OCULAR_TRACER_TIMELINE_OUTPUT_NAME_H

#include <limits.h>
#include <stdbool.h>

// Chooses the file to write when tracing stops. The file is `output`. If
// `output` exists, the file's name also contains the pid, and perhaps a number.
void OutputName_choose(const char *output, char path[PATH_MAX]);
bool OutputName_is_device(const char *path);
// Returns true if a file exists at `path` that must not be replaced.
bool OutputName_is_taken(const char *path);
// Stores `output` with the pid added in `path`, as the name of a child's own
// file.
void OutputName_own(const char *output, char path[PATH_MAX]);

// Chooses the name of the recording that is written until tracing stops. The
// recording is in `folder`. If `folder` is "", the recording is in the folder
// of the output.
void OutputName_recording(const char *output, const char *folder,
                          unsigned number, char path[PATH_MAX]);

#endif
