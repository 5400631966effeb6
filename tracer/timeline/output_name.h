// SPDX-License-Identifier: MIT
// Chooses the name of the file that is written when tracing stops. Any thread
// may call the functions of output_name.h.
#pragma once

#include <limits.h>
#include <stdbool.h>

// Stores in `path` the name of the file to write when tracing stops. The name
// is `output` if no file has this name. If `output` exists, the name also
// contains the pid, and perhaps a number.
void OutputName_choose(const char *output, char path[PATH_MAX]);
bool OutputName_is_device(const char *path);
// Returns true if there is a file at `path` that must not be replaced.
bool OutputName_is_taken(const char *path);
// Stores in `path` the name of a forked child's own file, which is `output`
// with the pid added.
void OutputName_own(const char *output, char path[PATH_MAX]);

// Stores in `path` the name of the recording's file, which is written until
// tracing stops. The file is in the folder `folder`. If `folder` is "", the
// file is in the same folder as the output.
void OutputName_recording(const char *output, const char *folder,
                          unsigned number, char path[PATH_MAX]);
