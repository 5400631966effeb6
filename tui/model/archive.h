// SPDX-License-Identifier: MIT
// One file out of a zip archive, as zipimport puts them into tracebacks'
// paths. The archive is a stranger's. One thread.
#ifndef OCULAR_TUI_MODEL_ARCHIVE_H
#define OCULAR_TUI_MODEL_ARCHIVE_H

#include <stddef.h>

// The member's bytes and a NUL, for the caller to free, *size of them; at most
// `most`. `named` only names the archive (O_PATH) or is open. NULL, and *why in
// words that follow the file's name.
char *Archive_read(int named, const char *member, size_t most, size_t *size,
                   const char **why);

#endif
