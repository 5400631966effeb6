// SPDX-License-Identifier: MIT
// Writes a file that the user named. Used by the viewer, on its thread.
#ifndef OCULAR_TUI_MODEL_SAVE_H
#define OCULAR_TUI_MODEL_SAVE_H

#include <stdbool.h>
#include <stddef.h>

// 0 or -errno: -EEXIST when the file is there and overwrite is not set, -EINVAL
// when what is there is no regular file.
int Save_file(const char *path, const void *data, size_t size, bool overwrite);

#endif
