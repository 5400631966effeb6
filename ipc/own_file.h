// SPDX-License-Identifier: MIT
// Says which code is the program's own code. The engine installs hooks in own
// code first, and the viewer can hide all other code. Any thread may call these
// functions.
#pragma once

#include <stdbool.h>
#include <string.h>

#define C_FUNCTION_FILE "<C function>" // The file of all C functions.

// Returns true for the file of C functions. `file` may be NULL.
static inline bool OwnFile_is_c(const char *file)
{
    return file && strcmp(file, C_FUNCTION_FILE) == 0;
}

// Returns true for a file of the program's own code. Files of the standard
// library, of installed packages and of exec() are not the program's own code.
// `file` may be NULL.
static inline bool OwnFile_is(const char *file)
{
    return file && *file != '<' && !strstr(file, "/site-packages/") &&
           !strstr(file, "/dist-packages/") && !strstr(file, "/lib/python3");
}
