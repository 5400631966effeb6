// SPDX-License-Identifier: MIT
// Reads one file of a zip archive, as zipimport names them in paths. A stranger
// made the archive. Called by source.c. One thread.
#ifndef OCULAR_TUI_MODEL_ARCHIVE_H
#define OCULAR_TUI_MODEL_ARCHIVE_H

#include <stddef.h>

// Returns the member's bytes and a NUL, *size of them, for the caller to free;
// at most `most`. NULL: *why says why, in words that follow the file's name.
// `named` is a descriptor of the archive, open or O_PATH.
char *Archive_read(int named, const char *member, size_t most, size_t *size,
                   const char **why);

#endif
