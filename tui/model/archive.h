// SPDX-License-Identifier: MIT
// Reads a member of a zip archive, because Python can import modules from zip
// archives. The archive is not trusted.
#pragma once

#include <stddef.h>

// Returns the member's bytes and a terminating NUL, which the caller frees.
// Sets *size to the number of bytes, at most `most`. On failure returns NULL,
// and *why is the end of a sentence that begins with the file's name. `named`
// is a descriptor of the archive, which may be O_PATH.
char *Archive_read(int named, const char *member, size_t most, size_t *size,
                   const char **why);
