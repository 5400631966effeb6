// SPDX-License-Identifier: MIT
// Writes a file that the user named. Called by question.c, on the viewer's
// thread.
#ifndef OCULAR_TUI_MODEL_SAVE_H
#define OCULAR_TUI_MODEL_SAVE_H

#include <stdbool.h>
#include <stddef.h>

// 0 or -errno. -EEXIST: the file exists and `overwrite` is not set; -EINVAL: it
// is no regular file.
int Save_file(const char *path, const void *data, size_t size, bool overwrite);

#endif
