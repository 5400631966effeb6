// SPDX-License-Identifier: MIT
// Reads one file of a zip archive, as zipimport names such files in paths. The
// archive is not trusted. Called by source.c. One thread.
#ifndef OCULAR_TUI_MODEL_ARCHIVE_H
#define OCULAR_TUI_MODEL_ARCHIVE_H

#include <stddef.h>

// Returns the member's bytes and a terminating NUL, for the caller to free.
// *size is their number, which is at most `most`. Returns NULL on failure; *why
// then continues a sentence that begins with the file's name. `named` is a
// descriptor of the archive, which may be O_PATH.
char *Archive_read(int named, const char *member, size_t most, size_t *size,
                   const char **why);

#endif
